/** API and edges on one database, sites with pages, and visitors of several kinds. */
import { randomBytes } from 'node:crypto';
import { request } from 'node:http';
import { join } from 'node:path';
import { Deployment } from '#db/deployments/deployment.ts';
import { claimBuild } from '#db/deployments/queue.ts';
import { goLive } from '#db/deployments/transitions.ts';
import { openViewsDatabase, type ViewsDatabase } from '#edge/analytics/database.ts';
import { openPageViews, type PageViews } from '#edge/analytics/page-views.ts';
import { createVisitors } from '#edge/analytics/visitors.ts';
import { createEdge } from '#edge/edge.ts';
import { listen } from '#edge/http/listener.ts';
import { openEdgeDatabase } from '#edge/routing/database.ts';
import { renderManifest } from '#providers/manifest.ts';
import { type Caller, createFixture } from '#test/api/fixture.ts';
import { people } from '#test/invitations/fixture.ts';
import { acceptedPublish } from '#test/publishing/acceptance.ts';

export const agents = {
  desktop: 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/131.0.0.0 Safari/537.36',
  mobile:
    'Mozilla/5.0 (iPhone; CPU iPhone OS 18_1 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.1 Mobile/15E148 Safari/604.1',
  tablet:
    'Mozilla/5.0 (iPad; CPU OS 17_6 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/17.6 Safari/604.1',
  robot: 'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
} as const;

export type View = {
  userAgent?: string | undefined;
  /** Where the visitor connects from. */
  from?: string;
  method?: string;
  headers?: Record<string, string>;
};
export type Site = { id: string; name: string };

type EdgeOptions = {
  trustedProxies?: string[];
  countryHeader?: string;
  through?: (database: ViewsDatabase) => ViewsDatabase;
};

export async function createAnalyticsFixture(env: Record<string, string> = {}) {
  const fixture = await createFixture(env);
  const { deps, clock, config, database } = fixture;
  const ask = people(fixture);
  const closing: (() => Promise<void>)[] = [];

  /** A live site of these files. */
  async function publish(owner: Caller, files: Record<string, string>): Promise<Site> {
    const site = await ask.newSite(owner);
    const lines = await Promise.all(
      Object.entries(files).map(async ([path, content]) => {
        const { sha256, bytes } = await deps.store.put(Buffer.from(content));
        return { path, sha256, bytes, encodings: [] };
      }),
    );
    const manifestSha256 = (await deps.store.put(renderManifest(lines))).sha256;
    const { id } = await acceptedPublish(deps, { siteId: site.id, createdBy: owner.accountId });
    await claimBuild(deps.em(), clock, id);
    await deps.em().nativeUpdate(Deployment, { id }, { manifestSha256, status: 'storing' });
    await goLive(deps.em(), clock, id);
    return site;
  }

  /** An edge process's worth: it knows the sites that are there when it starts. */
  async function openEdge({ trustedProxies = [], countryHeader = '', through = (it) => it }: EdgeOptions = {}) {
    const asking = openEdgeDatabase(database.url);
    const parts = {
      baseDomain: config.baseDomain,
      store: deps.store,
      database: asking,
      notifications: deps.notifications,
      clock,
    };
    const sitesFile = join(config.dataDir, 'edge', `${randomBytes(6).toString('hex')}.db`);
    const edge = createEdge({ ...parts, log: deps.log, sitesFile, cacheBytes: 8 * 1024 * 1024 });
    const counts = openViewsDatabase(database.url, randomBytes(6).toString('hex'));
    const counting: PageViews = openPageViews({
      database: through(counts),
      visitors: createVisitors({ trustedProxies, countryHeader }),
      clock,
      log: deps.log,
      secret: config.secret,
    });
    await Promise.all([edge.ready, counting.ready]);
    const listening = await listen(edge, { host: '127.0.0.1', port: 0, pageViews: counting });
    let closed: Promise<void> | undefined;
    const close = () => {
      closed ??= (async () => {
        await listening.close();
        await Promise.all([edge.close(), counting.close()]);
        await Promise.all([asking.close(), counts.close()]);
      })();
      return closed;
    };
    closing.push(close);
    return { port: listening.port, counting, close };
  }

  /** One request on a connection of its own; answers its status and validator. */
  function visit(edge: { port: number }, site: Site, path: string, view: View = {}) {
    const { from = '127.0.0.1', method = 'GET', headers = {} } = view;
    const userAgent = 'userAgent' in view ? view.userAgent : agents.desktop;
    const host = `${site.name}.${config.baseDomain}`;
    return new Promise<{ status: number; etag: string | undefined }>((resolve, reject) => {
      const sent = request({
        port: edge.port,
        host: '127.0.0.1',
        path,
        method,
        agent: false,
        localAddress: from,
        headers: {
          host,
          connection: 'keep-alive',
          ...(userAgent === undefined ? {} : { 'user-agent': userAgent }),
          ...headers,
        },
      });
      sent.on('error', reject);
      sent.on('response', (answer) => {
        answer.resume();
        answer.on('end', () => resolve({ status: answer.statusCode ?? 0, etag: answer.headers.etag }));
      });
      sent.end();
    });
  }

  const report = async (owner: Caller, site: Site, period = '24h') =>
    (await owner.call('GET', `/v1/sites/${site.id}/analytics?period=${period}`)).body;

  return {
    ...fixture,
    ask,
    publish,
    openEdge,
    visit,
    report,
    async close() {
      await Promise.all(closing.map((end) => end()));
      await fixture.close();
    },
  };
}

export const pages = {
  'index.html': '<!doctype html><title>Home</title>',
  'about.html': '<!doctype html><title>About</title>',
  'notes/index.html': '<!doctype html><title>Notes</title>',
  '404.html': '<!doctype html><title>Not here</title>',
  'style.css': 'p {}',
};
