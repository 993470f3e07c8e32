/** The restore that made the live version of a site live. */

/**
 * A lateral join, `restored`, to aliases of a site and its live version. A version that was restored is live under another ticket
 * than its own; the history says who restored it, and when: also while it was live.
 */
export const restoredOf = (site: string, version: string): string => `left join lateral (
    select actor_id, via_kind, via_name, at from history_entry entry
    where entry.site_id = ${site}.id and entry.action = 'deployment.restored' and entry.subject_id = ${version}.id
      and entry.at >= ${version}.live_at and ${site}.live_ticket <> ${version}.ticket
    order by entry.at desc, entry.id desc limit 1) as restored on true`;
