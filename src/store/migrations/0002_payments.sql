-- The payments ledger. Everything is written by the handler `payments` in the transaction that marks the
-- event done.

-- One row a payment: a pure function of its facts. Amounts are in the provider's own minor units; NULL means
-- that the events do not decide the figure.
CREATE TABLE hookgate.payments (
  provider          text        NOT NULL,
  account           text        NOT NULL,  -- merchant account; '' where there is none
  payment_id        text        NOT NULL,  -- Stripe pi_... (or a charge without one), Adyen the authorization's reference
  reference         text        NOT NULL,  -- the merchant's order; '' if no event named it
  status            text        NOT NULL,
  currency          text        NOT NULL,
  amount_authorized bigint,
  amount_captured   bigint,
  amount_refunded   bigint,
  amount_disputed   bigint,
  flags             text[]      NOT NULL DEFAULT '{}',
  is_live           boolean     NOT NULL,  -- holds or held money: counts for duplicate_payment
  first_event_at    timestamptz,
  last_event_at     timestamptz,
  CONSTRAINT payments_are_unique PRIMARY KEY (provider, account, payment_id),
  CONSTRAINT payment_status_is_known CHECK (status IN (
    'charged_back', 'disputed', 'refunded', 'partially_refunded', 'partially_captured', 'captured',
    'expired', 'canceled', 'authorized', 'failed', 'pending'))
) WITH (fillfactor = 85);

CREATE INDEX payments_by_reference ON hookgate.payments (provider, account, reference) WHERE reference <> '';

-- One row a business fact, unique by the provider's own id of it. `observations` is what events said of it: a set
-- that only grows, as a sorted JSON array in text (it may hold what jsonb refuses).
CREATE TABLE hookgate.payment_facts (
  provider     text NOT NULL,
  account      text NOT NULL,
  kind         text NOT NULL,
  fact_id      text NOT NULL,
  payment_id   text,           -- NULL: parked, nobody has said yet whose it is
  parent       text,           -- the Stripe charge it hangs on
  amount       bigint,         -- of the latest observation, to be shown; the fold reads `observations`
  currency     text NOT NULL,
  state        text NOT NULL,
  occurred_at  timestamptz,
  observations text NOT NULL,
  first_event  bigint,         -- the row of hookgate.events that first told of it; it may be gone by now
  CONSTRAINT payment_facts_are_unique PRIMARY KEY (provider, account, kind, fact_id)
) WITH (fillfactor = 85);

CREATE INDEX payment_facts_of_payment ON hookgate.payment_facts (provider, account, payment_id);
CREATE INDEX payment_facts_by_parent ON hookgate.payment_facts (provider, account, parent) WHERE parent IS NOT NULL;

-- What a payment has reached, each once, however often and in whatever order it is told.
CREATE TABLE hookgate.payment_milestones (
  provider   text        NOT NULL,
  account    text        NOT NULL,
  payment_id text        NOT NULL,
  milestone  text        NOT NULL,
  fact_id    text        NOT NULL,
  reached_at timestamptz NOT NULL DEFAULT now(),
  CONSTRAINT milestones_are_reached_once PRIMARY KEY (provider, account, payment_id, milestone, fact_id)
);
