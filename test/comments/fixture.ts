/** Sites with comments, for tests that need neither builds nor repositories. */
import { type Caller, createFixture } from '#test/api/fixture.ts';
import { people } from '#test/invitations/fixture.ts';

export async function createCommentFixture(env: Record<string, string> = {}, limits: Record<string, number> = {}) {
  const fixture = await createFixture({ FRONTAGE_SMTP_URL: 'smtp://127.0.0.1:9', ...env }, { limits });
  const around = people(fixture);
  return {
    ...fixture,
    ...around,
    /** An owner with a site, and the calls on its comments. */
    async newOwner() {
      const caller = await fixture.newCaller();
      const site = await around.newSite(caller);
      return { ...caller, site, ...commentsOf(caller, site.id) };
    },
    commentsOf,
  };
}
export type CommentFixture = Awaited<ReturnType<typeof createCommentFixture>>;

export function commentsOf({ call }: Caller, siteId: string) {
  const post = (body: unknown, headers: Record<string, string> = {}) =>
    call('POST', `/v1/sites/${siteId}/comments`, { body, headers });
  return {
    post,
    open: (body = 'Larger, please.', more: object = {}) => post({ page: '/', body, ...more }),
    resolve: (thread_id: string, note?: string) => post({ thread_id, action: 'resolve', ...(note ? { note } : {}) }),
    reopen: (thread_id: string, note?: string) => post({ thread_id, action: 'reopen', ...(note ? { note } : {}) }),
    reply: (id: string, message: string, headers: Record<string, string> = {}) =>
      call('POST', `/v1/comments/${id}/reply`, { body: { message }, headers }),
    list: (query = '') => call('GET', `/v1/sites/${siteId}/comments${query}`),
    review: (body: object = {}) => call('POST', `/v1/sites/${siteId}/review-links`, { body }),
  };
}
