use crate::Outcome;
#[derive(Debug, Clone, clap::Args)]
pub(crate) struct Args {}
pub(crate) async fn run(_: &Args) -> Outcome {
    Ok(())
}
