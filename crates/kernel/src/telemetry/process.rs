//! Metrics of the process, under the names that every Prometheus client library gives them. They are read at each scrape.

use std::fmt;

use procfs::process::{LimitValue, Process};
use procfs::{WithCurrentSystemInfo, ticks_per_second};
use prometheus_client::collector::Collector;
use prometheus_client::encoding::{DescriptorEncoder, EncodeMetric};
use prometheus_client::metrics::counter::ConstCounter;
use prometheus_client::metrics::gauge::ConstGauge;

/// Reads `/proc/self`.
#[derive(Debug)]
pub(super) struct ProcessMetrics;

/// What a scrape shows.
struct Reading {
    cpu_s: f64,
    resident_bytes: u64,
    virtual_bytes: u64,
    started_s: f64,
    threads: i64,
    open_files: u64,
    /// `None`: no limit.
    most_files: Option<u64>,
}

impl Collector for ProcessMetrics {
    fn encode(&self, mut encoder: DescriptorEncoder<'_>) -> fmt::Result {
        // Where /proc can't be read, these metrics are missing and all others are there.
        let Ok(read) = read() else {
            return Ok(());
        };
        let mut show = |name, help, metric: &dyn Shown| {
            metric.show(encoder.encode_descriptor(name, help, None, metric.metric_type())?)
        };
        show(
            "process_cpu_seconds",
            "Time on a processor, in user space and in the system",
            &ConstCounter::new(read.cpu_s),
        )?;
        show(
            "process_resident_memory_bytes",
            "Resident memory",
            &gauge(read.resident_bytes),
        )?;
        show(
            "process_virtual_memory_bytes",
            "Virtual memory",
            &gauge(read.virtual_bytes),
        )?;
        show(
            "process_start_time_seconds",
            "Start of the process, seconds since 1970 in UTC",
            &ConstGauge::new(read.started_s),
        )?;
        show("process_threads", "Threads", &ConstGauge::new(read.threads))?;
        show("process_open_fds", "Open file descriptors", &gauge(read.open_files))?;
        if let Some(most) = read.most_files {
            show(
                "process_max_fds",
                "Most file descriptors that may be open",
                &gauge(most),
            )?;
        }
        Ok(())
    }
}

/// `EncodeMetric` is no object, because it takes its encoder by value.
trait Shown {
    fn show(&self, encoder: prometheus_client::encoding::MetricEncoder<'_>) -> fmt::Result;
    fn metric_type(&self) -> prometheus_client::metrics::MetricType;
}

impl<M: EncodeMetric> Shown for M {
    fn show(&self, encoder: prometheus_client::encoding::MetricEncoder<'_>) -> fmt::Result {
        self.encode(encoder)
    }
    fn metric_type(&self) -> prometheus_client::metrics::MetricType {
        EncodeMetric::metric_type(self)
    }
}

fn gauge(value: u64) -> ConstGauge<i64> {
    ConstGauge::new(i64::try_from(value).unwrap_or(i64::MAX))
}

fn read() -> procfs::ProcResult<Reading> {
    let process = Process::myself()?;
    let stat = process.stat()?;
    #[expect(clippy::cast_precision_loss, reason = "ticks of a process stay far below 2^53")]
    let seconds = |ticks: u64| ticks as f64 / ticks_per_second() as f64;
    let most_files = match process.limits()?.max_open_files.soft_limit {
        LimitValue::Value(most) => Some(most),
        LimitValue::Unlimited => None,
    };
    #[expect(
        clippy::cast_precision_loss,
        reason = "a time of this century in seconds is far below 2^53"
    )]
    let booted_s = procfs::boot_time_secs()? as f64;
    Ok(Reading {
        cpu_s: seconds(stat.utime + stat.stime),
        resident_bytes: stat.rss_bytes().get(),
        virtual_bytes: stat.vsize,
        started_s: booted_s + seconds(stat.starttime),
        threads: stat.num_threads,
        open_files: process.fd_count()? as u64,
        most_files,
    })
}
