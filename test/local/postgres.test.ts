import { spawn } from 'node:child_process';
import { chownSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { afterEach, expect, test } from 'vitest';
import { startPostgres } from '#tools/local/services/postgres.ts';

/** Closed to everyone but its owner, as root's home is. */
const closed = mkdtempSync(join(tmpdir(), 'frontage-closed-'));
afterEach(() => rmSync(closed, { recursive: true, force: true, maxRetries: 10 }));

test('PostgreSQL’s folder is closed to other users, and starts with its passwords alone', async () => {
  const dir = join(closed, 'postgres');
  const server = await startPostgres({ dir, durable: true });
  try {
    const client = new pg.Client({ connectionString: server.url });
    await client.connect();
    const { rows } = await client.query('select current_user as role, current_database() as database');
    await client.end();
    expect(rows).toEqual([{ role: 'frontage', database: 'frontage' }]);
    const stranger = new pg.Client({ connectionString: server.url.replace(/:[^:@]+@/, ':guess@') });
    await expect(stranger.connect()).rejects.toThrow('password authentication failed');
    expect(statSync(join(dir, 'passwords.json')).mode & 0o777).toBe(0o600);
  } finally {
    await server.stop();
  }
  const start = () => startPostgres({ dir, durable: true });
  writeFileSync(join(dir, 'passwords.json'), JSON.stringify({ postgres: 'guess', frontage: 'guess' }));
  await expect(start()).rejects.toThrow(/^PostgreSQL on port \d+ does not accept the passwords of this data folder\.$/);
  writeFileSync(join(dir, 'passwords.json'), '');
  await expect(start()).rejects.toThrow('passwords.json is missing or damaged.');
});

test('PostgreSQL starts although another process has its former pid', async ({ onTestFinished }) => {
  const dir = join(closed, 'postgres');
  const lock = join(dir, 'data/postmaster.pid');
  const killed = await startPostgres({ dir, durable: false });
  const content = readFileSync(lock, 'utf8');
  await killed.stop();
  const { uid } = statSync(join(dir, 'data'));
  const other = spawn('sleep', ['60'], { stdio: 'ignore', uid });
  onTestFinished(() => void other.kill());
  writeFileSync(lock, content.replace(/^\d+/, String(other.pid)));
  chownSync(lock, uid, uid);
  const server = await startPostgres({ dir, durable: false });
  await server.stop();
  expect(other.exitCode ?? other.signalCode).toBeNull();
});
