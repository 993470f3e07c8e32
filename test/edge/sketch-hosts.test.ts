/** Visitors can request any sketch host: only one query runs at a time. */
import { expect, test } from 'vitest';
import type { SketchRow } from '#edge/routing/database.ts';
import { createSketchHosts } from '#edge/routing/sketch-hosts.ts';

const row = { title: 'Shown' } as SketchRow;

/** A database with `s--shown`, which responds on demand. */
function slowDatabase() {
  const questions: { labels: string[]; answer(): void; fail(): void }[] = [];
  const sketchesAt = (labels: string[]) =>
    new Promise<Map<string, SketchRow>>((resolve, reject) => {
      const found = new Map(labels.includes('s--shown') ? [['s--shown', row]] : []);
      questions.push({ labels, answer: () => resolve(found), fail: () => reject(new Error('away')) });
    });
  return { questions, sketchesAt };
}
const turn = () => new Promise((resolve) => setImmediate(resolve));

test('a thousand unknown hosts cause three queries, and none the second time', async () => {
  const database = slowDatabase();
  const hosts = createSketchHosts(database);
  const labels = Array.from({ length: 1_000 }, (_, n) => `s--${n}`);
  const asked = Promise.all([...labels, 's--shown'].map(hosts.find));
  for (const [at, count] of [1, 500, 500].entries()) {
    await turn();
    expect(database.questions.map(({ labels }) => labels.length)).toEqual([1, 500, 500].slice(0, at + 1));
    expect(count).toBe(database.questions.at(-1)?.labels.length);
    database.questions.at(-1)?.answer();
  }
  expect((await asked).filter(Boolean)).toEqual([row]);
  expect(await Promise.all(labels.map(hosts.find))).toEqual(labels.map(() => undefined));
  expect(database.questions).toHaveLength(3);
});

test('shown sketches are queried each time, also by requests during a query', async () => {
  const database = slowDatabase();
  const hosts = createSketchHosts(database);
  const first = hosts.find('s--shown');
  const second = hosts.find('s--shown');
  database.questions[0]?.answer();
  expect(await first).toBe(row);
  await turn();
  expect(database.questions).toHaveLength(2);
  database.questions[1]?.answer();
  expect(await second).toBe(row);
});

test('a failed query fails its own requests, and the next one runs', async () => {
  const database = slowDatabase();
  const hosts = createSketchHosts(database);
  const first = hosts.find('s--shown').catch((error: Error) => error.message);
  const second = hosts.find('s--shown');
  database.questions[0]?.fail();
  expect(await first).toBe('away');
  await turn();
  database.questions[1]?.answer();
  expect(await second).toBe(row);
});
