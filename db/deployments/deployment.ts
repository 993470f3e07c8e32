import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import { Site } from '#db/sites/site.ts';
import type { DeploymentKind, DeploymentStatus } from '#rules/states.ts';
import type { ErrorBody } from '#runtime/errors.ts';

export const warningKinds = [
  'no_home_page',
  'broken_link',
  'dead_form',
  'image_without_alt',
  'page_without_title',
  'large_file',
] as const;
export type WarningKind = (typeof warningKinds)[number];
export type Warning = { kind: WarningKind; path: string; target?: string; message: string };

/** What was found wrong in the output: the first of it, how much there is of each kind, and how many of all pages were read. */
export type Warnings = {
  items: Warning[];
  counts: Record<WarningKind, number>;
  pages: { read: number; all: number };
};

/** What is kept of it. A form's page does not change, but whether the form takes anything does: that is judged at reading. */
export type FoundWarnings = Omit<Warnings, 'counts'> & {
  counts: Partial<Record<WarningKind, number>>;
  /** Pages with the forms that they send to; absent in versions that were looked through before forms were. */
  forms?: { path: string; form: string }[];
};

/** What a build has made: its manifest in the store, and how much that names. */
export type Output = { manifestSha256: string; fileCount: number; totalBytes: number };

/** A commit of each repository; null where it has none. */
export type BranchHeads = { source: string | null; content: string | null };

/**
 * One version of a site, from the call that asked for it to the bytes that are served. Its manifest is a blob in the store.
 * `ticket` orders it against every other publish and restore of its site.
 */
export const Deployment = defineEntity({
  name: 'Deployment',
  properties: {
    id: p.text().primary(),
    site: () => p.manyToOne(Site),
    number: p.integer(),
    kind: p.text().$type<DeploymentKind>(),
    status: p.text().$type<DeploymentStatus>(),
    ticket: p.integer(),
    sourceCommit: p.text().nullable(),
    contentCommit: p.text().nullable(),
    /** Identity of the build image, from the start of the build. */
    image: p.text().nullable(),
    /** Of a `preview`: the number of its slot. */
    slot: p.integer().nullable(),
    /** Of a draft that leaves something out when it is published: what is published instead. */
    withoutDrafts: p.json().$type<Output>().nullable(),
    /** Of a publish of a slot: where both `main` stood when it was accepted. It brings them to its own commits. */
    mainsBefore: p.json().$type<BranchHeads>().nullable(),
    /** Whether it is built without what earlier builds of the site left. */
    anew: p.boolean().default(false),
    /** The address that the pages were built for. */
    siteUrl: p.text(),
    /** Where this one was overtaken, the publish or restore that won. */
    supersededById: p.text().nullable(),
    manifestSha256: p.text().nullable(),
    fileCount: p.integer().nullable(),
    totalBytes: p.bigint('number').nullable(),
    /** When its files were scanned for what a person should look at. */
    scannedAt: p.datetime().nullable(),
    /** Whether the scan read all that it had to: what such a version holds is not read again. */
    scannedWhole: p.boolean().default(false),
    /** Until when an upload takes files. */
    uploadEndsAt: p.datetime().nullable(),
    /** Whether all its files stand in `held_file` under its site. */
    filesListed: p.boolean().default(false),
    /** What was found wrong in the output, once somebody asked. */
    warnings: p.json().$type<FoundWarnings>().nullable(),
    error: p.json().$type<ErrorBody>().nullable(),
    createdBy: () => p.manyToOne(Account),
    createdAt: p.datetime(),
    startedAt: p.datetime().nullable(),
    finishedAt: p.datetime().nullable(),
    liveAt: p.datetime().nullable(),
  },
});
export type Deployment = InferEntity<typeof Deployment>;
