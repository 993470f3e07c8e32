/** A site's overview and its versions. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { commitTitles } from '#api/deployments/commit-titles.ts';
import { sendPage } from '#api/plugins/browser.ts';
import { readCard, versionBefore } from '#api/renderings/rules.ts';
import { sendPicture } from '#api/renderings/sent-picture.ts';
import { Account } from '#db/accounts/account.ts';
import { readLogTail } from '#db/deployments/build-log.ts';
import { restoredOf } from '#db/history/restores.ts';
import { liveDeploymentOf } from '#db/sites/transitions.ts';
import { pathOfPage } from '#providers/manifest-paths.ts';
import { agentHtml } from '#web/console/agents.ts';
import type { Refused, SiteFrame } from '#web/console/frame.ts';
import { sitePath } from '#web/console/tabs.ts';
import { olderVersionsPage, overviewPage, type PreviewShown } from '#web/console/versions/overview.ts';
import { type VersionPage, versionPage } from '#web/console/versions/version.ts';
import { isRunning, statusWords, type VersionShown } from '#web/console/versions/versions.ts';
import type { Html } from '#web/html.ts';
import { action } from './actions.ts';
import { agentPaths } from './agents.ts';
import { comparisonPages } from './comparisons.ts';
import { type Console, consolePage, type Named, siteFrameOf, siteOfPage } from './frame.ts';
import { cursorOf, type Listed, read, sendFile } from './reading.ts';

const versionsShown = 30;
const logBytes = 64 * 1024;
const nothing = { source: false, content: false, address: false };

type Whose = { created_by: string; created_via: { kind: string; name: string | null } | null };
type Read = Omit<VersionShown, 'by'> &
  Whose & {
    file_count: number | null;
    source_commit: string | null;
    content_commit: string | null;
    /** Of one version that was read. */
    warnings?: { items: { kind: string; path: string; target?: string }[] };
  };
type OfVersion = { Params: { id: string; version: string } };
type OfPhoto = { Params: { id: string; photo: string } };

export function overviewPages(console: Console): void {
  const { app, deps } = console;
  app.get<Named>('/account/sites/:id', consolePage('overview'), (request, reply) => show(request, reply, null));

  app.get<OfVersion>('/account/sites/:id/versions/:version', consolePage('version'), (request, reply) =>
    showVersion(request, reply, null),
  );

  app.get<OfVersion>(
    '/account/sites/:id/versions/:version/progress',
    consolePage('progress'),
    async (request, reply) => {
      const version = await readVersion(request);
      const log = await readLogTail(request.em, version.id, logBytes);
      reply.header('cache-control', 'no-store');
      return { status: statusWords(version.status), isOver: !isRunning(version), log };
    },
  );

  app.get<OfVersion>('/account/sites/:id/versions/:version/picture', consolePage('card'), async (request, reply) => {
    const site = await siteOfPage(request);
    const picture = await readCard(request.em, deps, { site: site.id, deployment: request.params.version });
    return sendPicture(reply.header('cache-control', 'private, max-age=86400'), 'webp', picture);
  });

  // A file from others: it is a download, and runs nothing.
  app.get<OfPhoto>('/account/sites/:id/photos/:photo', consolePage('photo'), async (request, reply) => {
    const { id } = await siteOfPage(request);
    reply.header('content-security-policy', "sandbox; default-src 'none'");
    const name = encodeURIComponent(request.params.photo);
    return await sendFile(console, request, reply, `/v1/sites/${id}/assets/src/assets/${name}`);
  });

  const publish = {
    to: (id: string) => sitePath(id),
    notice: 'The new version is being built. Visitors see it when it is ready.',
  };
  action(console, {
    path: '/account/sites/:id/publish',
    operation: 'site.publish',
    input: ({ params }) => ({ id: params.id, scope: 'site' }),
    done: (_answer, { params }) => ({ to: publish.to(params.id), notice: publish.notice }),
    show,
  });

  action(console, {
    path: '/account/sites/:id/previews/:slot/publish',
    operation: 'preview.publish',
    input: ({ params }) => ({ id: params.id, slot: (params as unknown as { slot: string }).slot }),
    done: (_answer, { params }) => ({ to: sitePath(params.id), notice: 'The preview is being published.' }),
    show,
  });

  action(console, {
    path: '/account/sites/:id/versions/:version/restore',
    operation: 'deployment.restore',
    input: ({ params }) => ({ id: (params as OfVersion['Params']).version }),
    done: ({ number }, { params }) => ({ to: sitePath(params.id), notice: `Version ${number} is live again.` }),
    show: (request, reply, refused) => showVersion(request as FastifyRequest<OfVersion>, reply, refused),
  });

  comparisonPages(console, (request, reply, refused) =>
    showVersion(request as FastifyRequest<OfVersion>, reply, refused),
  );

  /** Adds who made each version; the reader's own agents lead to their pages. */
  async function withNames<Row extends Whose>(request: FastifyRequest, rows: readonly Row[]) {
    const { em, actor } = request;
    const ids = [...new Set(rows.map((row) => row.created_by))];
    const accounts = new Map((await em.find(Account, { id: { $in: ids } })).map(({ id, name }) => [id, name]));
    const agents = await agentPaths(deps, request);
    return rows.map((row) => ({ ...row, by: makerOf(row, actor.accountId, { accounts, agents }) }));
  }

  async function show(request: FastifyRequest<Named>, reply: FastifyReply, refused: Refused | null) {
    const { site, frame } = await siteFrameOf(request, reply, deps, refused);
    const { id } = site;
    const { cursor } = cursorOf(request.query as { cursor?: unknown });
    if (cursor !== undefined && !refused) return await showOlder(request, frame, reply);
    const list = await listOf(request);
    const detail = await read<{ unpublished_changes?: typeof nothing }>(console, request, 'site.read', { id });
    const live = site.liveDeploymentId
      ? await read<Read>(console, request, 'deployment.read', { id: site.liveDeploymentId })
      : null;
    const restored = await restoreOf(request, id);
    const named = await withNames(request, [...list.items, ...(live ? [{ ...live, ...restored }] : [])]);
    const shown = live ? (named.at(-1) ?? null) : null;
    const versions = await withTitles(id, named.slice(0, list.items.length).filter(isVersion));
    const logged = versions.find(isRunning) ?? (versions[0]?.status === 'failed' ? versions[0] : undefined);
    const page = {
      versions,
      live: shown && { ...shown, restoredAt: restored?.at ?? null },
      unpublished: detail.unpublished_changes ?? nothing,
      isUnchanged: await isUnchangedSince(id, versions[0]),
      placeholders: placeholdersOf(live),
      previews: await previewsOf(request, id),
      canCompare: deps.config.screenshots && live !== null,
      log: logged ? await readLogTail(request.em, logged.id, logBytes) : '',
      older: list.next_cursor,
    };
    return sendPage(reply, overviewPage(frame, page), refused?.status);
  }

  async function withTitles<Row extends Read>(siteId: string, versions: readonly Row[]) {
    const titles = await commitTitles(deps, siteId, versions);
    return versions.map((version) => ({ ...version, title: titles.get(version.id) }));
  }

  /** Whether both repositories are as they were when this version failed. */
  async function isUnchangedSince(siteId: string, version: Read | undefined): Promise<boolean> {
    const { repositories } = deps;
    if (!repositories || version?.status !== 'failed') return false;
    const source = (await repositories.head(siteId, 'source')) ?? null;
    const content = (await repositories.head(siteId, 'content')) ?? null;
    return version.source_commit === source && version.content_commit === content;
  }

  /** A part of the site's list of deployments. */
  const listOf = (request: FastifyRequest<Named>) =>
    read<Listed<Read>>(console, request, 'deployment.list', {
      id: request.params.id,
      limit: versionsShown,
      ...cursorOf(request.query as { cursor?: unknown }),
    });

  async function showOlder(request: FastifyRequest<Named>, frame: SiteFrame, reply: FastifyReply) {
    const { items, next_cursor: older } = await listOf(request);
    const versions = await withTitles(request.params.id, (await withNames(request, items)).filter(isVersion));
    return sendPage(reply, olderVersionsPage(frame, { versions, older }));
  }

  async function showVersion(request: FastifyRequest<OfVersion>, reply: FastifyReply, refused: Refused | null) {
    const { site, frame } = await siteFrameOf(request, reply, deps, refused);
    const [version] = await withNames(request, [await readVersion(request)]);
    if (!version) return undefined;
    const log = await readLogTail(request.em, version.id, logBytes);
    const canCompare =
      deps.config.screenshots &&
      version.file_count !== null &&
      (await versionBefore(request.em, { id: version.id, number: version.number, site })) !== null;
    const live = (await liveDeploymentOf(request.em, site))?.number ?? null;
    return sendPage(reply, versionPage(frame, { version, log, live, canCompare }), refused?.status);
  }

  /** The version of the path, if it is one of the site there. */
  async function readVersion(request: FastifyRequest<OfVersion>) {
    const { id } = await siteOfPage(request);
    const { version } = request.params;
    const found = await read<Read & { site_id: string } & Pick<VersionPage['version'], 'changes' | 'commits'>>(
      console,
      request,
      'deployment.read',
      { id: version },
    );
    return found.site_id === id ? found : await read<never>(console, request, 'deployment.read', { id: 'x' });
  }

  /** None where the service offers none. */
  async function previewsOf(request: FastifyRequest, id: string): Promise<PreviewShown[]> {
    const isOn = console.deps.config.previews && console.deps.repositories;
    return isOn ? (await read<{ items: PreviewShown[] }>(console, request, 'preview.list', { id })).items : [];
  }
}

/** The builds of previews are listed with the versions. */
const isVersion = ({ kind, live_at: liveAt }: Pick<Read, 'kind' | 'live_at'>): boolean =>
  kind !== 'preview' || liveAt !== null;

/** Who made the live version live again; null if it was not restored. */
async function restoreOf({ em }: FastifyRequest, siteId: string): Promise<(Whose & { at: Date }) | null> {
  const sql = `select actor_id as "by", via_kind as kind, via_name as name, restored.at from site
    join deployment version on version.id = site.live_deployment_id ${restoredOf('site', 'version')}
    where site.id = ? and actor_id is not null`;
  const [row] = await em.execute<{ by: string; kind: string; name: string | null; at: Date | string }[]>(sql, [siteId]);
  return row ? { created_by: row.by, created_via: { kind: row.kind, name: row.name }, at: new Date(row.at) } : null;
}

/** Each text once, on its first page. */
function placeholdersOf(live: Read | null): { text: string; path: string }[] {
  const items = live?.warnings?.items ?? [];
  return items.flatMap(({ kind, target, path }) =>
    kind === 'template_text' && target ? [{ text: `[[${target}]]`, path: `/${pathOfPage(path)}` }] : [],
  );
}

type Names = Record<'accounts' | 'agents', ReadonlyMap<string, string>>;

function makerOf({ created_by, created_via }: Whose, own: string, { accounts, agents }: Names): Html | string {
  const name = accounts.get(created_by) ?? 'somebody';
  if (created_by !== own) return name;
  if (created_via?.kind === 'token') return agentHtml(created_via.name ?? 'an agent', agents);
  return created_via?.kind === 'git' ? 'you, with git' : 'you';
}
