//! The older text format of Prometheus, made from `OpenMetrics`. Tools such as `promtool check metrics` read only that.

use std::fmt::Write as _;

/// What `OpenMetrics` calls `name` with samples `name_total` is a counter `name_total` here.
pub(super) fn classic(open: &str) -> String {
    let mut text = String::with_capacity(open.len());
    let mut help = None;
    for line in open.lines() {
        if let Some(rest) = line.strip_prefix("# HELP ") {
            // Written with its TYPE, which says whether this is a counter.
            help = rest.split_once(' ');
        } else if let Some((name, kind)) = line.strip_prefix("# TYPE ").and_then(|rest| rest.split_once(' ')) {
            let suffix = if kind == "counter" { "_total" } else { "" };
            if let Some((_, words)) = help.take() {
                // Writing to a string does not fail.
                let _ = writeln!(text, "# HELP {name}{suffix} {words}");
            }
            let _ = writeln!(text, "# TYPE {name}{suffix} {kind}");
        } else if line != "# EOF" && !line.starts_with("# UNIT ") {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_counter_has_one_name() {
        let open = "# HELP a_b Some words.\n# TYPE a_b counter\na_b_total{x=\"# EOF\"} 1\n# HELP c_seconds Time.\n\
                    # TYPE c_seconds gauge\n# UNIT c_seconds seconds\nc_seconds 2\n# EOF\n";
        let expected = "# HELP a_b_total Some words.\n# TYPE a_b_total counter\na_b_total{x=\"# EOF\"} 1\n\
                        # HELP c_seconds Time.\n# TYPE c_seconds gauge\nc_seconds 2\n";
        assert_eq!(classic(open), expected);
    }
}
