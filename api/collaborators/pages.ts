/** The button on the account page with which a collaborator leaves a site. */

import type { Api } from '#api/api.ts';
import { pageOptions } from '#api/plugins/browser.ts';
import type { Deps } from '#runtime/deps.ts';
import { leaveSite } from './rules.ts';

type Named = { Params: { id: string } };

export function collaboratorPages(app: Api, deps: Deps): void {
  app.post<Named>(
    '/account/sites/:id/leave',
    pageOptions('collaborator.leave_on_page', 'email_signin'),
    async ({ em, actor, params }, reply) => {
      await leaveSite(em, deps, actor, params.id);
      return reply.redirect('/account', 303);
    },
  );
}
