/** Photos that arrived through upload links, until a version that was requested later is live. */
import { call } from '#rules/calls/calls.ts';
import { notDone } from './done.ts';
import { newsSince, type Source, siteColumns, siteIdsIn } from './item.ts';

const sql = `
  select link.id, link.files_taken as files, link.last_file_path as path, link.last_file_at as at, ${siteColumns}
  from upload_link link
  join site on site.id = link.site_id and site.status = 'active'
  left join deployment live on live.id = site.live_deployment_id
  where link.site_id = any(?) and link.last_file_at > ? and (live.id is null or live.created_at < link.last_file_at)
    and ${notDone({ kind: 'photos_arrived', id: 'link.id', at: 'link.last_file_at' })}
  order by link.last_file_at desc limit ?`;

type Row = Record<'id' | 'path' | 'siteId' | 'siteName' | 'siteTitle', string> & { files: number; at: string | Date };

export const arrivedPhotos: Source<Row> = {
  kind: 'photos_arrived',
  select(reader, since, { now, limit }) {
    return { sql, values: [siteIdsIn(reader), newsSince(since, now), reader.accountId, limit] };
  },
  item({ id, files, path, at, siteId, siteName, siteTitle }) {
    return {
      id,
      site: { id: siteId, name: siteName },
      at: new Date(at),
      title: `${files === 1 ? 'A photo has' : `${files} photos have`} arrived on ${siteTitle} through an upload link.`,
      message: `The newest is ${path}.`,
      photo: path,
      nextAction: `Call ${call('asset.list', { id: siteId })} to find the photos, use them in the site, and publish it with ${call('site.publish', { id: siteId })}.`,
    };
  },
};
