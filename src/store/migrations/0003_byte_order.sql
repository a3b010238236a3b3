-- Keys compare byte by byte. Any other order is the operating system's, and can change with its C library: a
-- unique index that was built under the old order would then let a duplicate in. It is also the faster one.
ALTER TABLE hookgate.events
  ALTER COLUMN source   TYPE text COLLATE "C",
  ALTER COLUMN scope    TYPE text COLLATE "C",
  ALTER COLUMN event_id TYPE text COLLATE "C";

-- What a gateway offers to hookgate.events: one array of these is the whole batch.
CREATE TYPE hookgate.offered_event AS (
  id             bigint,
  source         text COLLATE "C",
  scope          text COLLATE "C",
  event_id       text COLLATE "C",
  event_type     text,
  subject        text,
  status         text,
  last_error     text,
  item           bigint,
  secret_index   bigint,
  occurred_at    timestamptz,
  received_at    timestamptz,
  content        bytea,
  signed_content bytea,
  head           bytea,
  body           bytea
);
