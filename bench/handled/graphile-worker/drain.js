// Puts COUNT jobs into the queue, then drains it with one business upsert a job. Prints one line of JSON.
import pg from "pg";
import { run, runMigrations } from "graphile-worker";

const count = Number(process.env.COUNT);
const pool = new pg.Pool({ max: 20 });
await runMigrations({ pgPool: pool });
await pool.query(
  `SELECT count(graphile_worker.add_job('effect', json_build_object('id', 'job_' || i, 'pad', $2::text)))
     FROM generate_series(1, $1::int) AS i`,
  [count, "x".repeat(1000)],
);

let done = 0;
let finish;
const finished = new Promise((resolve) => { finish = resolve; });
const upsert = {
  name: "upsert",
  text: "INSERT INTO effects (id, runs) VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET runs = effects.runs + 1",
};
const began = process.hrtime.bigint();
const runner = await run({
  pgPool: pool,
  concurrency: 10,
  noHandleSignals: true,
  preset: { worker: { localQueue: { size: 500 }, completeJobBatchDelay: 1, failJobBatchDelay: 1 } },
  taskList: {
    effect: async (payload) => {
      await pool.query({ ...upsert, values: [payload.id] });
      if (++done === count) finish();
    },
  },
});
await finished;
const seconds = Number(process.hrtime.bigint() - began) / 1e9;
await runner.stop();
console.log(JSON.stringify({ count, seconds }));
await pool.end();
process.exit(0);
