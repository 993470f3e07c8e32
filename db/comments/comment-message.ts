import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import type { AuthorKind } from '#rules/states.ts';
import { CommentThread } from './comment-thread.ts';

/** A message in a thread. `agent`: written with a token; `owner` and `collaborator`: written in a browser. */
export const CommentMessage = defineEntity({
  name: 'CommentMessage',
  properties: {
    id: p.text().primary(),
    thread: () => p.manyToOne(CommentThread),
    account: () => p.manyToOne(Account),
    authorKind: p.text().$type<AuthorKind>(),
    /** What a reviewer typed as their name, or the name of the token. */
    authorName: p.text().nullable(),
    /** Whether the account wrote it while signed in; a reviewer comments in the name of the account that made the link. */
    signedIn: p.boolean().default(false),
    body: p.text(),
    createdAt: p.datetime(),
  },
});
export type CommentMessage = InferEntity<typeof CommentMessage>;
