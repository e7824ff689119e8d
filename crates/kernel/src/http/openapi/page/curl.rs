//! The command that makes a call, to copy into a shell.

use serde_json::Value;

use super::operation::Operation;
use super::{items, members, pretty, text};

/// What the commands use.
pub(super) const VARIABLES: &str = "JACKPOT=http://127.0.0.1:8080\nKEY=$(cat data/operator.key)";

/// The command, with the examples of the description.
pub(super) fn line(operation: &Operation<'_>) -> String {
    let mut parts = vec!["curl -s".to_owned()];
    if operation.streams() {
        parts.push("-N".to_owned());
    }
    if operation.method != "get" {
        parts.push(format!("-X {}", operation.method.to_uppercase()));
    }
    parts.push(format!("\"$JACKPOT{}\"", address(operation)));
    if operation.needs_key() {
        parts.push("-H \"Authorization: Bearer $KEY\"".to_owned());
    }
    for header in required(operation, "header") {
        parts.push(format!(
            "-H {}",
            quoted(&format!("{}: {}", text(header, "name"), value(header)))
        ));
    }
    for (kind, media) in members(&operation.about["requestBody"]["content"]).take(1) {
        parts.push(format!("-H {}", quoted(&format!("Content-Type: {kind}"))));
        // Without the change that -d makes to line ends, which separate the lines of a list.
        parts.push(format!("--data-binary {}", quoted(&pretty(&first_example(media)))));
    }
    parts.join(" ")
}

/// The example of a body; null without one.
pub(super) fn first_example(media: &Value) -> Value {
    let named = members(&media["examples"]).next().map(|(_, one)| &one["value"]);
    named.unwrap_or(&media["example"]).clone()
}

fn address(operation: &Operation<'_>) -> String {
    let mut path = operation.path.to_owned();
    for parameter in required(operation, "path") {
        path = path.replace(&format!("{{{}}}", text(parameter, "name")), &value(parameter));
    }
    let query: Vec<_> = required(operation, "query")
        .map(|parameter| format!("{}={}", text(parameter, "name"), value(parameter)))
        .collect();
    let mark = if query.is_empty() { "" } else { "?" };
    format!("{path}{mark}{}", query.join("&"))
}

fn required<'a>(operation: &Operation<'a>, place: &'static str) -> impl Iterator<Item = &'a Value> + use<'a> {
    items(&operation.about["parameters"]).filter(move |one| one["in"] == place && one["required"] == true)
}

/// The example of a parameter, or its name in capitals for the reader to replace.
fn value(parameter: &Value) -> String {
    match &parameter["example"] {
        Value::Null => text(parameter, "name").to_uppercase(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// One word of a shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_call_is_one_command_of_a_shell() {
        let about = json!({
            "security": [{"bearer": []}],
            "parameters": [
                {"name": "id", "in": "path", "required": true, "example": "spring"},
                {"name": "place", "in": "query", "required": true},
                {"name": "step", "in": "query", "required": true, "example": 3},
                {"name": "limit", "in": "query", "required": false, "example": 100},
                {"name": "If-Match", "in": "header", "required": true, "example": "\"3\""}],
            "requestBody": {"content": {"application/json": {"examples": {"one": {"value": {"reason": "it's"}}}}}}});
        let operation = Operation {
            path: "/v1/jackpots/{id}/pause",
            method: "post",
            about: &about,
        };
        assert_eq!(
            line(&operation),
            "curl -s -X POST \"$JACKPOT/v1/jackpots/spring/pause?place=PLACE&step=3\" \
             -H \"Authorization: Bearer $KEY\" -H 'If-Match: \"3\"' -H 'Content-Type: application/json' \
             --data-binary '{\n  \"reason\": \"it'\\''s\"\n}'"
        );
    }

    #[test]
    fn a_stream_is_shown_as_it_comes_and_needs_no_key_if_it_is_public() {
        let about = json!({"responses": {"200": {"content": {"text/event-stream": {}}}}});
        let operation = Operation {
            path: "/v1/stream",
            method: "get",
            about: &about,
        };
        assert_eq!(line(&operation), "curl -s -N \"$JACKPOT/v1/stream\"");
    }
}
