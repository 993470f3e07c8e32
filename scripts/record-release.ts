/**
 * Writes down what this release relies on, for the one after it (docs/upgrading.md), in the environment of an installation whose database
 * has its migrations and no others:
 *
 *   node --env-file=.frontage/env scripts/record-release.ts
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readConfig } from '../config.ts';
import { describeRelease } from '../test/upgrades/schema.ts';

const root = join(import.meta.dirname, '..');
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const lines = await describeRelease(readConfig().databaseUrl);
writeFileSync(join(root, 'test/upgrades/releases', `${version}.txt`), `${lines.join('\n')}\n`);
console.log(`test/upgrades/releases/${version}.txt: ${lines.length} lines`);
