/** A worker process that can be killed: it renews every due domain, and exits when none is due. */
import pino from 'pino';
import { renewIfDue } from '#activities/certificates/renew.ts';
import { Certificate } from '#db/certificates/certificate.ts';
import { dueAt } from '#db/certificates/transitions.ts';
import { Domain } from '#db/domains/domain.ts';
import { openAuthority } from '#providers/acme.ts';
import { readConfig } from '#runtime/config.ts';
import { createDeps } from '#runtime/deps.ts';

const aheadMs = Number(process.env.AHEAD_MS ?? 0);
const clock = { now: () => new Date(Date.now() + aheadMs) };
const config = readConfig();
const deps = createDeps(config, { name: 'hand', clock, log: pino({ level: 'silent' }) });
const certificateDeps = { ...deps, authority: openAuthority(config.acme as NonNullable<typeof config.acme>, clock) };

const domains = await deps.em().find(Domain, { status: 'active' }, { orderBy: { id: 'asc' } });
const waiting = [...domains];

async function work(): Promise<void> {
  for (let domain = waiting.shift(); domain; domain = waiting.shift()) {
    const { id, name, mode } = domain;
    const held = await deps.em().findOne(Certificate, { domainId: id });
    if (held && dueAt(held, clock.now()) > clock.now()) continue;
    const way = mode === 'nameservers' ? { kind: 'dns-01' as const, zone: name } : { kind: 'http-01' as const };
    await renewIfDue(certificateDeps, { domainId: id, name, names: [name], validation: way }, () => {}).catch(() => {});
  }
}
await Promise.all(Array.from({ length: 8 }, work));
await deps.close();
process.exit(0);
