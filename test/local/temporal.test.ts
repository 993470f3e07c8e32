import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { startTemporal } from '#tools/local/services/temporal.ts';

test('Temporal starts in any folder although its first start was killed midway', async ({ onTestFinished }) => {
  const dir = mkdtempSync(join(tmpdir(), 'frontage # a?b %20-'));
  onTestFinished(() => rmSync(dir, { recursive: true, force: true, maxRetries: 10 }));
  const halfMade = new DatabaseSync(join(dir, 'temporal.db'));
  halfMade.exec('create table buffered_events (shard_id int)');
  halfMade.close();
  const server = await startTemporal({ dir });
  expect(server.running()).toBe(true);
  await server.stop();
  expect(existsSync(join(dir, 'unfinished.temporal.db'))).toBe(true);
});
