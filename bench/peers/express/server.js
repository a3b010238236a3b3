// What Stripe's own example shows for Express, with one durable insert that recognises a redelivery by its id and
// an answer after the commit.
import express from 'express';
import pg from 'pg';
import Stripe from 'stripe';

const secret = process.env.STRIPE_WEBHOOK_SECRET;
const stripe = new Stripe('sk_test_invented');
const pool = new pg.Pool({ max: Number(process.env.POOL_SIZE ?? 10) });
const insert = {
  name: 'insert-event',
  text: 'INSERT INTO webhook_events (id, type, body) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING',
};

const app = express();
app.post('/webhooks/stripe', express.raw({ type: 'application/json' }), async (request, response) => {
  let event;
  try {
    event = stripe.webhooks.constructEvent(request.body, request.headers['stripe-signature'], secret);
  } catch {
    return response.status(401).json({ title: 'bad signature' });
  }
  const { rowCount } = await pool.query({ ...insert, values: [event.id, event.type, request.body] });
  if (rowCount === 0) response.set('Idempotent-Replayed', 'true');
  response.json({ status: rowCount === 0 ? 'duplicate' : 'accepted' });
});

const server = app.listen({ host: '127.0.0.1', port: 0, backlog: 1024 }, () => {
  console.log(`listening on 127.0.0.1:${server.address().port}`);
});
process.on('SIGTERM', () => {
  server.closeAllConnections();
  server.close(() => pool.end());
});
