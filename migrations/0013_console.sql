-- What the console keeps: sessions that ended before their time, and reasons of actions whose events have none.

CREATE TABLE console_signed_out (
  session TEXT PRIMARY KEY,       -- id of the session, hexadecimal
  until_ms BIGINT NOT NULL        -- from here on the session is over anyway, and the row can go
);

CREATE TABLE console_reasons (
  request_id TEXT NOT NULL,       -- audit.request_id
  who TEXT NOT NULL,              -- audit.who: a client may send any request id, but not another one's name
  reason TEXT NOT NULL,
  PRIMARY KEY (request_id, who)
);
