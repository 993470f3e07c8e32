/**
 * Records the schema that this release uses, for the next release (docs/upgrading.md), from a temporary database:
 *
 *   node tools/scripts/record-release.ts [--again]
 *
 * `--again` replaces an existing record. Never record a published release again.
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { migrate } from '#db/migrate.ts';
import { startPostgres } from '#tools/local/services/postgres.ts';
import { describeRelease } from './schema-record.ts';

const root = join(import.meta.dirname, '../..');

async function describeThis(): Promise<string[]> {
  const dir = await mkdtemp(join(tmpdir(), 'frontage-record-'));
  try {
    const postgres = await startPostgres({ dir, durable: false });
    try {
      await migrate(postgres.url);
      return await describeRelease(postgres.url);
    } finally {
      await postgres.stop();
    }
  } finally {
    await rm(dir, { recursive: true, force: true });
  }
}

const { values } = parseArgs({ options: { again: { type: 'boolean', default: false } } });
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const name = `test/upgrades/releases/${version}.txt`;
if (existsSync(join(root, name)) && !values.again) {
  console.error(`${name} already exists. Set the new version in package.json, or use --again to replace it.`);
  process.exitCode = 1;
} else {
  const lines = await describeThis();
  writeFileSync(join(root, name), `${lines.join('\n')}\n`);
  console.log(`${name}: ${lines.length} lines`);
}
