/** Domains, a name server, an authority and an edge that speaks TLS, each of the test's own. */

import { join } from 'node:path';
import { renewIfDue } from '#activities/certificates/renew.ts';
import { Domain } from '#db/domains/domain.ts';
import { openNotifications } from '#db/notifications.ts';
import { createEdge } from '#edge/edge.ts';
import { createChallengeResponder } from '#edge/http/acme-challenges.ts';
import { openCertificates } from '#edge/http/certificates.ts';
import { type CertificatesDatabase, openCertificatesDatabase } from '#edge/http/certificates-database.ts';
import { listen } from '#edge/http/listener.ts';
import type { OpenLimits } from '#edge/http/open-bodies.ts';
import { openEdgeDatabase } from '#edge/routing/database.ts';
import type { Authority } from '#providers/acme.ts';
import { openAuthority } from '#providers/acme.ts';
import { readConfig } from '#runtime/config.ts';
import { createDeps } from '#runtime/deps.ts';
import { newId } from '#runtime/ids.ts';
import { baseDomain, createFixture as createEdgeFixture, type Fixture as EdgeFixture } from '#test/edge/fixture.ts';
import { startAuthority, startZones } from '#test/stack/zones.ts';
import { freePort } from '#tools/local/ports.ts';

export { baseDomain };

type Pebble = Awaited<ReturnType<typeof startAuthority>>;

export type Options = {
  clock?: { now(): Date };
  pebble?: Partial<Parameters<typeof startAuthority>[0]>;
  /** Asked by the authority in place of our name server. */
  resolver?: (zones: string) => Promise<{ address: string; close(): Promise<unknown> }>;
  /** In place of Pebble. */
  authority?: Pick<Pebble, 'root' | 'env' | 'close'> & Partial<Pebble>;
  env?: Record<string, string>;
  /** Made in place of an empty one. */
  edgeFixture?: () => Promise<EdgeFixture>;
};

export async function createFixture({
  clock = { now: () => new Date() },
  pebble = {},
  resolver,
  authority: given,
  env = {},
  edgeFixture: make = createEdgeFixture,
}: Options = {}) {
  const edgeFixture = await make();
  const [httpPort, tlsPort] = [await freePort(), await freePort()];
  const names = await startZones();
  const between = await resolver?.(names.address);
  const authority =
    given ?? (await startAuthority({ resolver: between?.address ?? names.address, httpPort, ...pebble }));
  const settings = {
    DATABASE_URL: edgeFixture.database.url,
    FRONTAGE_DATA: edgeFixture.dir,
    FRONTAGE_SECRET: 'a secret of the tests, long enough',
    FRONTAGE_BASE_DOMAIN: baseDomain,
    FRONTAGE_EDGE_URL: `https://localhost:${tlsPort}`,
    FRONTAGE_PUBLIC_HTTP_PORT: String(httpPort),
    FRONTAGE_PUBLIC_TLS_PORT: String(tlsPort),
    FRONTAGE_DOMAINS: 'nameservers,cname',
    FRONTAGE_EDGE_ADDRESSES: '127.0.0.1',
    FRONTAGE_LOG_LEVEL: 'silent',
    ...names.env,
    ...authority.env,
    ...env,
  };
  const config = readConfig(settings);
  const deps = createDeps(config, { name: 'test', clock, log: undefined as never });
  let opened: Authority | undefined;
  const certificateDeps = () => {
    opened ??= openAuthority(config.acme as NonNullable<typeof config.acme>, clock);
    return { ...deps, authority: opened };
  };
  const closing: (() => Promise<unknown>)[] = [];

  /** An edge on the ports that the world knows, or on free ones. */
  async function openTlsEdge({
    ports = { http: httpPort, tls: tlsPort },
    through = (database: CertificatesDatabase) => database,
    overTls = true,
    /** Shows one certificate to whatever name is asked for. */
    shownToAll = undefined as string | undefined,
    patience = {} as { handshakeMs?: number; stalledMs?: number },
    openLimits = undefined as OpenLimits | undefined,
  } = {}) {
    const { log } = deps;
    const notifications = openNotifications(edgeFixture.database.url, log);
    const asked = through(openCertificatesDatabase(edgeFixture.database.url));
    const database = openEdgeDatabase(edgeFixture.database.url);
    const certificates = openCertificates({
      database: asked,
      notifications,
      log,
      baseDomain,
      encryptionKeys: config.encryptionKeys,
      isServed: (host) => edge.serves(host),
    });
    const edge = createEdge({
      baseDomain,
      edgeUrl: config.edgeUrl,
      tls: { port: tlsPort, own: () => (overTls ? certificates.own() : undefined) },
      store: edgeFixture.store,
      database,
      notifications,
      clock,
      log,
      sitesFile: join(edgeFixture.dir, 'edge', `${newId('site')}.db`),
      cacheBytes: 16 * 1024 * 1024,
    });
    await Promise.all([edge.ready, certificates.ready]);
    const showing = shownToAll ? { contextOf: () => certificates.contextOf(shownToAll) } : certificates;
    const listening = await listen(edge, {
      host: '127.0.0.1',
      port: ports.http,
      clock,
      challenges: createChallengeResponder(asked),
      ...patience,
      ...(openLimits ? { openLimits } : {}),
      tls: {
        port: ports.tls,
        certificates: showing,
        database: asked,
        clock,
        log,
        encryptionKeys: config.encryptionKeys,
        ...patience,
      },
    });
    let closed: Promise<void> | undefined;
    const close = () => {
      closed ??= listening
        .close()
        .then(() => Promise.all([edge.close(), certificates.close()]))
        .then(() => Promise.all([notifications.close(), asked.close(), database.close()]))
        .then(() => {});
      return closed;
    };
    closing.push(close);
    return { port: listening.port, tlsPort: listening.tlsPort as number, certificates, close };
  }

  /** A domain as it is once its owner has proved it. */
  async function addDomain(
    name: string,
    more: { mode?: 'nameservers' | 'cname'; siteId?: string; isPrimary?: boolean; status?: string } = {},
  ) {
    const { mode = 'cname', siteId = null, isPrimary = false, status = 'active' } = more;
    const id = newId('dom');
    const [{ id: account }] = (await edgeFixture.db.query('select id from account limit 1')).rows;
    const now = clock.now();
    await edgeFixture.db.query(
      `insert into domain (id, account_id, name, registrable, mode, status, status_since, proof, pair, proved_at, site_id, is_primary, attached_at, created_at, next_check_at, block_reason)
       values ($1, $2, $3, $3, $4, $5, $6::timestamptz, $1, $1, $6, $7, $8, case when $7::text is null then null else $6::timestamptz end, $6, $6, $9)`,
      [id, account, name, mode, status, now, siteId, isPrimary, status === 'Blocked' ? 'abuse' : null],
    );
    return id;
  }

  /** Points the name at our edge, in a zone of its own. */
  const pointHere = (name: string, address = '127.0.0.1') =>
    names.zones.create(name, [
      { name: `${name}.`, type: 'NS', ttl: 60, contents: ['ns.test.'] },
      { name: `${name}.`, type: 'A', ttl: 60, contents: [address] },
    ]);

  /** What a worker does when it is called for this domain. */
  async function renew(domainId: string) {
    const { name, mode } = await deps.em().findOneOrFail(Domain, { id: domainId });
    const way = mode === 'nameservers' ? { kind: 'dns-01' as const, zone: name } : { kind: 'http-01' as const };
    return await renewIfDue(certificateDeps(), { domainId, name, names: [name], validation: way }, () => {});
  }

  async function renewOwn() {
    const wanted = { domainId: null, name: `*.${baseDomain}`, names: [baseDomain, `*.${baseDomain}`] };
    return await renewIfDue(
      certificateDeps(),
      { ...wanted, validation: { kind: 'dns-01', zone: baseDomain } },
      () => {},
    );
  }

  const rowOf = async (name: string) =>
    (await edgeFixture.db.query('select * from certificate where name = $1', [name])).rows[0];

  async function close(): Promise<void> {
    await Promise.all(closing.map((end) => end()));
    await deps.close();
    await authority.close();
    await between?.close();
    await names.close();
    await edgeFixture.close();
  }

  return {
    ...edgeFixture,
    names,
    authority,
    config,
    settings,
    deps,
    httpPort,
    tlsPort,
    openTlsEdge,
    addDomain,
    pointHere,
    renew,
    renewOwn,
    certificateDeps,
    rowOf,
    close,
  };
}
export type CertificateFixture = Awaited<ReturnType<typeof createFixture>>;
