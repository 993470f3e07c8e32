import { defineEntity, type InferEntity, p } from '@mikro-orm/core';
import { Account } from '#db/accounts/account.ts';
import { Site } from '#db/sites/site.ts';
import type { Via } from '#rules/history.ts';
import type { DeploymentKind, DeploymentStatus } from '#rules/states.ts';
import type { ErrorBody } from '#runtime/errors.ts';

export const warningKinds = [
  'no_home_page',
  'broken_link',
  'broken_redirect',
  'dead_form',
  'image_without_alt',
  'page_without_title',
  'large_file',
  'photo_location',
  'unusual_draft',
  'template_text',
] as const;
export type WarningKind = (typeof warningKinds)[number];
/** What is wrong, at its first place; how often it was found, and the first five places. */
export type Warning = {
  kind: WarningKind;
  path: string;
  target?: string;
  message: string;
  count: number;
  places: string[];
};

/** Problems found in the output: the first of them, a count of each kind, and how many pages were checked. */
export type Warnings = {
  items: Warning[];
  counts: Record<WarningKind, number>;
  pages: { read: number; all: number };
};

/** The stored part. Whether a form accepts submissions may change, so that is checked at each read. */
export type FoundWarnings = Omit<Warnings, 'counts'> & {
  counts: Partial<Record<WarningKind, number>>;
  /** Pages with the forms that they submit to. */
  forms?: { path: string; form: string }[];
  /** Whether time ran out before all photos were read. */
  photosUnread?: boolean;
};

/** The output of a build: its manifest in the store, with the number and size of its files. */
export type Output = { manifestSha256: string; fileCount: number; totalBytes: number };

/** A time in which a version was live, in RFC 3339. `to` is null for the version that is live now. */
export type LiveSpan = { from: string; to: string | null };

/** The head of a branch in each repository; null where there is none. */
export type BranchHeads = { source: string | null; content: string | null };

/**
 * One version of a site, from the call that requested it to the files that are served. Its manifest is a blob in the
 * store. `ticket` orders it against every other publish and restore of its site; it is 0 for a draft.
 * An upload has it from its creation on.
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
    /** The number of the preview slot, for the kinds `draft` and `preview`. */
    slot: p.integer().nullable(),
    /** What was built, without draft posts; null before the source was read, and for kinds that are not built. */
    sourceDigest: p.text().nullable(),
    /** For a draft of a site with draft posts: the output without them, which a publish uses. */
    publishedOutput: p.json().$type<Output>().nullable(),
    /**
     * For the publish of a slot: the heads of both `main` branches at acceptance. The publish fast-forwards them to its
     * commits.
     */
    expectedHeads: p.json().$type<BranchHeads>().nullable(),
    /** Whether it is built without the cache of earlier builds. */
    noCache: p.boolean().default(false),
    /** The address that the pages were built for. */
    siteUrl: p.text(),
    /** The publish or restore that superseded this one. */
    supersededById: p.text().nullable(),
    manifestSha256: p.text().nullable(),
    fileCount: p.integer().nullable(),
    totalBytes: p.bigint('number').nullable(),
    /** When its files were scanned for abuse. */
    scannedAt: p.datetime().nullable(),
    /** Whether the scan read every file; such files are not scanned again. */
    scannedWhole: p.boolean().default(false),
    /** When an upload stops accepting files. */
    uploadEndsAt: p.datetime().nullable(),
    /** Whether all its files are rows of `held_file`. */
    filesListed: p.boolean().default(false),
    /** Problems found in the output; null until the first request for them. */
    warnings: p.json().$type<FoundWarnings>().nullable(),
    error: p.json().$type<ErrorBody>().nullable(),
    createdBy: () => p.manyToOne(Account),
    /** How that account created it; null for those of before there was a history. */
    createdVia: p.text().$type<Via['kind']>().nullable(),
    /** The name that the token had. */
    createdViaName: p.text().nullable(),
    createdAt: p.datetime(),
    /** Since when it may start, while it is queued; null while it waits for its turn. */
    turnAt: p.datetime().nullable(),
    startedAt: p.datetime().nullable(),
    finishedAt: p.datetime().nullable(),
    liveAt: p.datetime().nullable(),
    /** The last times that it was live, oldest first; `liveAt` is the start of the last one. */
    liveSpans: p.json().$type<LiveSpan[]>().default([]),
  },
});
export type Deployment = InferEntity<typeof Deployment>;
