import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Site } from '#db/sites/site.ts';
import type { CommentPosition, CommentStatus } from '#rules/states.ts';
import { CommentMessage } from './comment-message.ts';

/**
 * A thread about a place on a page. Its screenshot is a blob of the store; if there is none, `pictureMissing` is the
 * reason. Each message and each change of state sets `changedAt`.
 */
export const CommentThread = defineEntity({
  name: 'CommentThread',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site),
    status: p.text().$type<CommentStatus>(),
    page: p.text(),
    position: p.json().$type<CommentPosition>().nullable(),
    deploymentId: p.text().nullable(),
    pictureSha256: p.text().nullable(),
    pictureType: p.text().nullable(),
    pictureMissing: p.text().nullable(),
    createdAt: p.datetime(),
    changedAt: p.datetime(),
    resolvedAt: p.datetime().nullable(),
    messages: () => p.oneToMany(CommentMessage).mappedBy('thread').orderBy({ id: 'asc' }),
  },
});
export type CommentThread = InferEntity<typeof CommentThread>;
