/** Forms without a recipient: pages that send to an unknown form, or to one that is closed. Checked when the warnings are read. */
import type { FoundWarnings } from '#db/deployments/deployment.ts';
import { Form } from '#db/forms/form.ts';
import type { EntityManager } from '#db/orm.ts';
import { printable } from '#providers/paths.ts';
import type { FoundWarning } from './causes.ts';

/** The form that a page's address sends to: on the platform (`baseUrl`), or on the site's own host, where there is none. */
export function formAt(address: string, from: URL, baseUrl: string, origins: readonly string[]): string | undefined {
  const target = URL.parse(address, from.href);
  const ours = new URL(baseUrl).origin;
  if (!target || (target.origin !== ours && !origins.includes(target.origin))) return undefined;
  const [, id] = /^\/f\/([^/]+)\/?$/.exec(target.pathname) ?? [];
  if (id === undefined) return undefined;
  return target.origin === ours ? id : target.pathname;
}

/** A warning for each page and form that do not match. */
export async function deadForms(
  em: EntityManager,
  siteId: string,
  found: NonNullable<FoundWarnings['forms']>,
): Promise<FoundWarning[]> {
  if (found.length === 0) return [];
  const ids = [...new Set(found.map(({ form }) => form))];
  const rows = await em.find(Form, { site: siteId, id: { $in: ids } }, { fields: ['status'] });
  const statuses = new Map(rows.map(({ id, status }) => [id, status]));
  return found.flatMap(({ path, form }) => {
    const status = statuses.get(form);
    if (status === 'enabled') return [];
    const why =
      status === 'disabled'
        ? 'which is disabled and rejects submissions until it is enabled'
        : 'which is not a form on this site';
    const target = printable(form);
    return [
      {
        kind: 'dead_form',
        path,
        target,
        message: `${printable(path)} contains a form that submits to ${target}, ${why}.`,
      },
    ];
  });
}
