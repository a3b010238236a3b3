// Puts COUNT jobs into the queue, then drains it with one business upsert a job. Prints one line of JSON.
import pg from "pg";
import PgBoss from "pg-boss";

const count = Number(process.env.COUNT);
const chunk = 1000;
const pool = new pg.Pool({ max: 10 });
const boss = new PgBoss({ host: process.env.PGHOST, port: Number(process.env.PGPORT), user: process.env.PGUSER,
  database: process.env.PGDATABASE, max: 10, supervise: false });
boss.on("error", (error) => { console.error(error); process.exit(1); });
await boss.start();
await boss.createQueue("effect");
for (let first = 1; first <= count; first += chunk) {
  const jobs = [];
  for (let i = first; i < first + chunk && i <= count; ++i)
    jobs.push({ name: "effect", data: { id: `job_${i}`, pad: "x".repeat(1000) } });
  await boss.insert(jobs);
}

let done = 0;
let finish;
const finished = new Promise((resolve) => { finish = resolve; });
const upsert = {
  name: "upsert",
  text: "INSERT INTO effects (id, runs) VALUES ($1, 1) ON CONFLICT (id) DO UPDATE SET runs = effects.runs + 1",
};
const began = process.hrtime.bigint();
for (let worker = 0; worker < 4; ++worker) {
  await boss.work("effect", { batchSize: 500, pollingIntervalSeconds: 0.5 }, async (jobs) => {
    await Promise.all(jobs.map((job) => pool.query({ ...upsert, values: [job.data.id] })));
    done += jobs.length;
    if (done >= count) finish();
  });
}
await finished;
const seconds = Number(process.hrtime.bigint() - began) / 1e9;
console.log(JSON.stringify({ count, seconds }));
await boss.stop({ graceful: false, wait: false });
process.exit(0);
