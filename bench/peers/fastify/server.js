// What many would write with Fastify: official signature check over the raw body, one durable insert that
// recognises a redelivery by its id, an answer after the commit.
import Fastify from 'fastify';
import pg from 'pg';
import Stripe from 'stripe';

const secret = process.env.STRIPE_WEBHOOK_SECRET;
const stripe = new Stripe('sk_test_invented');
const pool = new pg.Pool({ max: Number(process.env.POOL_SIZE ?? 10) });
const insert = {
  name: 'insert-event',
  text: 'INSERT INTO webhook_events (id, type, body) VALUES ($1, $2, $3) ON CONFLICT (id) DO NOTHING',
};

const server = Fastify();
server.removeAllContentTypeParsers();
server.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => done(null, body));

server.post('/webhooks/stripe', async (request, reply) => {
  let event;
  try {
    event = stripe.webhooks.constructEvent(request.body, request.headers['stripe-signature'], secret);
  } catch {
    return reply.code(401).send({ title: 'bad signature' });
  }
  const { rowCount } = await pool.query({ ...insert, values: [event.id, event.type, request.body] });
  if (rowCount === 0) reply.header('Idempotent-Replayed', 'true');
  return { status: rowCount === 0 ? 'duplicate' : 'accepted' };
});

await server.listen({ host: '127.0.0.1', port: 0, backlog: 1024 });
console.log(`listening on 127.0.0.1:${server.server.address().port}`);
process.on('SIGTERM', async () => {
  server.server.closeAllConnections();
  await server.close();
  await pool.end();
});
