/**
 * Thousands of requests generated from our own description; each response is compared with it.
 * @module-tag schemathesis
 */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AccessFixture, createAccessFixture } from '#test/api/access/access-fixture.ts';
import { table } from '#test/api/access/access-table.ts';
import { type Operation, routesOf } from '#test/api/samples.ts';
import { generate, type Run } from '#test/api/schemathesis.ts';
import { isLong, sized } from './size.ts';

/** Beside requests of their own, also what is on the edge of each schema. */
const phases = isLong ? 'coverage,fuzzing' : 'fuzzing';
/** For each operation, at most. */
const cases = String(sized({ short: 1, long: 100 }));
const sequences = String(sized({ short: 3, long: 100 }));

let fixture: AccessFixture;
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'frontage-generated-'));
  fixture = await createAccessFixture();
}, 60_000);
afterAll(async () => {
  await fixture?.close();
  await rm(folder, { recursive: true, force: true });
});

/** Where an operation is about something, this is a thing that there is, so that requests get behind the door. */
async function parametersOf(name: string, site: string | undefined): Promise<string> {
  const known = name.includes(' /v1/deployments/') ? fixture.deploymentId : (site ?? fixture.siteId);
  const parts = { id: known, ...(await table[name]?.path?.(fixture)) };
  const used = Object.entries(parts).filter(([part]) => name.includes(`{${part}}`));
  const lines = used.map(([part, value]) => `"path.${part}" = ${JSON.stringify(value)}`);
  if (name === 'GET /v1/inbox') lines.push('"query.wait" = 0');
  return `[[operations]]\ninclude-name = ${JSON.stringify(name)}\nparameters = { ${lines.join(', ')} }\n`;
}

const configFor = async (names: string[], sites: Record<string, string> = {}): Promise<string> => {
  const parts: string[] = [];
  for (const name of names) parts.push(await parametersOf(name, sites[name]));
  return parts.join('\n');
};

async function expectNothing(run: Omit<Run, 'url' | 'folder'>, generatedMin: number): Promise<void> {
  const { failures, generated, said } = await generate({ url: fixture.url, folder, ...run });
  expect(failures, said).toEqual([]);
  expect(generated).toBeGreaterThan(generatedMin);
}

const slow = { timeout: 3600_000 };
const fewest = 100;

test('calls with a token for existing resources return only described responses', slow, async () => {
  const config = await configFor(Object.keys(table).filter((name) => name.includes('{') || name === 'GET /v1/inbox'));
  await expectNothing({ name: 'with a token', phases, cases, config, token: fixture.token }, fewest);
});

test('calls without a token return only described responses', slow, async () => {
  await expectNothing({ name: 'without a token', phases, cases, config: '' }, fewest);
});

/** The links of the description alone are followed: what the tool would guess beside them leads nowhere. */
const inTurn = `
[phases.stateful]
max-steps = 12
inference.algorithms = []
generation.mode = "positive"

# By contract what was removed stays to be read, as that.
[[operations]]
include-name = "GET /v1/payout-offers/{id}"
checks.use_after_free.enabled = false

[[operations]]
include-name = "GET /v1/account/payout-accounts/{id}/sites"
checks.use_after_free.enabled = false

[[operations]]
# A series that ends its own token comes to nothing from there.
include-name = "DELETE /v1/tokens/{id}"
enabled = false
`;

/** A thing of each kind in the lists, and the site that each list is read of. */
async function fillLists(): Promise<Record<string, string>> {
  const { member, invitation, thread, reviewLink, uploadLink, form } = fixture;
  const { domain, payoutAccount, payoutOffer, ownersToken } = fixture;
  const makers: (() => Promise<unknown>)[] = [member, invitation, thread, reviewLink, uploadLink, form];
  for (const make of [...makers, domain, payoutAccount, payoutOffer, ownersToken]) await make();
  const [booking, payment] = [await fixture.booking(), await fixture.payment()];
  return {
    'GET /v1/sites/{id}/bookings': booking.siteId,
    'GET /v1/sites/{id}/bookable': booking.siteId,
    'GET /v1/sites/{id}/payments': payment.siteId,
    'POST /v1/sites/{id}/payments': payment.siteId,
  };
}

test('calls on resources that earlier calls created or listed return only described responses', slow, async () => {
  const sites = await fillLists();
  const first = routesOf(await fixture.document()).filter(
    ({ path, operation }) => path.includes('{') && hasLinks(operation),
  );
  const names = first.map(({ method, path }) => `${method} ${path}`);
  const config = `${inTurn}\n${await configFor(names, sites)}`;
  await expectNothing({ name: 'in turn', phases: 'stateful', cases: sequences, config, token: fixture.token }, 20);
});

function hasLinks({ responses }: Operation): boolean {
  return (responses as Record<string, { links?: object }>)['200']?.links !== undefined;
}
