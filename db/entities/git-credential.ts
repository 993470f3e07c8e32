import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import type { GitAccess, Repository } from '../states.ts';
import { Account } from './account.ts';
import { Site } from './site.ts';

/** User name and password of one repository. The password is kept as its SHA-256 and shown once. */
export const GitCredential = defineEntity({
  name: 'GitCredential',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site),
    account: () => p.manyToOne(Account),
    repository: p.text().$type<Repository>(),
    access: p.text().$type<GitAccess>(),
    username: p.text().unique(),
    hash: p.blob(),
    createdAt: p.datetime(),
    expiresAt: p.datetime(),
  },
});
export type GitCredential = InferEntity<typeof GitCredential>;
