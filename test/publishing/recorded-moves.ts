/** Records every state of a deployment and every move of a site's pointer, in the order in which they were written. */
import type { Deps } from '#runtime/deps.ts';

const triggers = `
  create table move (at serial, deployment_id text, status text);
  create function note_move() returns trigger language plpgsql as $$
    begin insert into move (deployment_id, status) values (new.id, new.status); return null; end $$;
  create trigger note_move after insert or update of status on deployment for each row execute function note_move();
  create table pointer (at serial, site_id text, deployment_id text);
  create function note_pointer() returns trigger language plpgsql as $$
    begin insert into pointer (site_id, deployment_id) values (new.id, new.live_deployment_id); return null; end $$;
  create trigger note_pointer after update of live_deployment_id on site for each row execute function note_pointer();
`;

export async function recordMoves({ em }: Pick<Deps, 'em'>) {
  await em().execute(triggers);
  /** The values of a query's column `value`. */
  async function column(question: string, values: unknown[]): Promise<string[]> {
    const rows: { value: string }[] = await em().execute(question, values);
    return rows.map(({ value }) => value);
  }
  return {
    column,
    movesOf: (id: string) => column('select status as value from move where deployment_id = ? order by at', [id]),
    pointersOf: (siteId: string) =>
      column('select deployment_id as value from pointer where site_id = ? order by at', [siteId]),
  };
}
