-- What must reach the outside. A handler writes a row in the transaction that marks its event done; senders claim
-- rows as workers claim events. outbox_keys_are_unique makes writing one twice harmless, and the receiver is sent the
-- same key on every try.
CREATE TABLE hookgate.outbox (
  id              bigint      GENERATED ALWAYS AS IDENTITY,
  created_at      timestamptz NOT NULL DEFAULT now(),
  sent_at         timestamptz,
  discarded_at    timestamptz,
  due_at          timestamptz NOT NULL DEFAULT now(),     -- next try, or the end of the claim's lease
  event           bigint      NOT NULL,                   -- events.id; its row may be gone
  claim_token     bigint,                                 -- fencing token of the try that runs now
  attempts        integer     NOT NULL DEFAULT 0,         -- claims since it was written or retried by hand
  item            smallint    NOT NULL DEFAULT 0,         -- the event's position in the body
  status          text        NOT NULL DEFAULT 'pending',
  destination     text        COLLATE "C" NOT NULL,       -- the handler's name
  idempotency_key text        COLLATE "C" NOT NULL,
  subject         text        NOT NULL,
  event_type      text        NOT NULL,
  content_type    text        NOT NULL,
  last_error      text,
  body            bytea       COMPRESSION lz4 NOT NULL,   -- the request body of the event, as received
  CONSTRAINT outbox_pkey PRIMARY KEY (id),
  CONSTRAINT outbox_keys_are_unique UNIQUE (idempotency_key),
  CONSTRAINT outbox_key_length CHECK (octet_length(idempotency_key) BETWEEN 1 AND 255),
  CONSTRAINT outbox_status_is_known CHECK (status IN ('pending', 'sent', 'dead', 'discarded'))
) WITH (fillfactor = 85, autovacuum_vacuum_scale_factor = 0.02, autovacuum_vacuum_insert_scale_factor = 0.05);

-- The claim reads this and nothing else; it holds only what waits.
CREATE INDEX outbox_waiting ON hookgate.outbox (destination, due_at, id) WHERE status = 'pending';
-- For destinations that keep the order: is there an earlier one of the same subject?
CREATE INDEX outbox_subjects ON hookgate.outbox (destination, subject, id) WHERE status = 'pending' AND subject <> '';
CREATE INDEX outbox_dead ON hookgate.outbox (id) WHERE status = 'dead';
-- For retention.
CREATE INDEX outbox_sent ON hookgate.outbox (sent_at) WHERE status = 'sent';
CREATE INDEX outbox_discarded ON hookgate.outbox (discarded_at) WHERE status = 'discarded';
