-- What a gateway must remember of the events it was told about.

-- Ids are handed to gateways in blocks of 1,000, so that a statement can name the ids of the rows it
-- offers and learn from RETURNING which of them were new.
CREATE SEQUENCE hookgate.event_ids AS bigint INCREMENT BY 1000 START WITH 1000;

-- One row per event a provider told us about. events_are_unique is the deduplication: whichever
-- delivery commits first wins, in every process, with no lock of our own. The table is narrow and is never
-- partitioned by time: a unique index of such a table would have to contain the time.
CREATE TABLE hookgate.events (
  id             bigint      NOT NULL,
  received_at    timestamptz NOT NULL,            -- by the gateway's clock, of the first delivery
  last_seen_at   timestamptz NOT NULL,            -- of the last delivery; retention counts from here
  occurred_at    timestamptz,                     -- by the sender's clock
  done_at        timestamptz,
  due_at         timestamptz NOT NULL DEFAULT now(),  -- next run, or the end of the claim's lease
  claim_token    bigint,                          -- fencing token of the claim that runs it now
  attempts       integer     NOT NULL DEFAULT 0,  -- claims so far
  failures       integer     NOT NULL DEFAULT 0,  -- runs in which a handler failed
  crashes        integer     NOT NULL DEFAULT 0,  -- claims whose lease expired: process or database lost
  deliveries     integer     NOT NULL DEFAULT 1,
  versions       integer     NOT NULL DEFAULT 0,  -- other bodies that came under this id
  item           smallint    NOT NULL DEFAULT 0,  -- position in the request's body
  secret_index   smallint    NOT NULL DEFAULT 0,  -- which of the source's secrets matched
  status         text        NOT NULL DEFAULT 'pending',
  source         text        NOT NULL,
  scope          text        NOT NULL,            -- account inside a source; '' where there is none
  event_id       text        NOT NULL,            -- the sender's id, not ours
  event_type     text        NOT NULL,
  subject        text        NOT NULL,
  finished       text        NOT NULL DEFAULT '', -- names of the handlers that are through with it, comma-separated
  last_error     text,
  content        bytea       NOT NULL,            -- SHA-256 of the canonical content
  signed_content bytea       NOT NULL,            -- SHA-256 of its signed part
  CONSTRAINT events_pkey PRIMARY KEY (id),
  CONSTRAINT events_are_unique UNIQUE (source, scope, event_id),
  CONSTRAINT event_id_length CHECK (octet_length(event_id) BETWEEN 1 AND 255),
  CONSTRAINT event_status_is_known CHECK (status IN ('pending', 'done', 'ignored', 'dead', 'discarded'))
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);

-- The claim reads this and nothing else; it holds only what is waiting.
CREATE INDEX events_waiting ON hookgate.events (due_at, id) WHERE status = 'pending';
CREATE INDEX events_dead ON hookgate.events (id) WHERE status = 'dead';

-- The bytes, apart from the keys: dropped by the day, long before the keys are forgotten.
CREATE TABLE hookgate.event_bodies (
  day   date   NOT NULL,  -- UTC day of events.received_at
  event bigint NOT NULL,  -- events.id
  head  bytea  NOT NULL,  -- request line and headers as received, without credentials
  body  bytea  COMPRESSION lz4 NOT NULL,
  CONSTRAINT event_bodies_pkey PRIMARY KEY (day, event)
) PARTITION BY RANGE (day);

-- Takes what has no partition of its own (a gateway whose clock is wrong must still not lose an event).
CREATE TABLE hookgate.event_bodies_other PARTITION OF hookgate.event_bodies DEFAULT;

-- Same id, other signed content: kept beside the first, shown, never handled as new.
CREATE TABLE hookgate.conflicts (
  id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event       bigint      NOT NULL,  -- events.id
  received_at timestamptz NOT NULL,
  item        smallint    NOT NULL,
  fingerprint bytea       NOT NULL,
  head        bytea       NOT NULL,
  body        bytea       COMPRESSION lz4 NOT NULL,
  CONSTRAINT conflicts_are_kept_once UNIQUE (event, fingerprint)
);

-- Same id, same signed content, other unsigned details (Adyen): a duplicate for all but the ledger.
CREATE TABLE hookgate.revisions (
  id          bigint      GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  event       bigint      NOT NULL,  -- events.id
  received_at timestamptz NOT NULL,
  item        smallint    NOT NULL,
  fingerprint bytea       NOT NULL,
  head        bytea       NOT NULL,
  body        bytea       COMPRESSION lz4 NOT NULL,
  CONSTRAINT revisions_are_kept_once UNIQUE (event, fingerprint)
);
