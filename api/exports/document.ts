/**
 * The format of a site archive: a tar of `blobs/<sha256>` (files of the live version, screenshots of comments),
 * `source.pack` and `content.pack` (every object of its repositories), and at the end `site.json`, which describes
 * them. Ids stay the same, because pages link to forms and bookings by id.
 */
import { z } from 'zod';
import { bookableInput } from '#api/bookings/schemas.ts';
import { positionInput, typedPage } from '#api/comments/schemas.ts';
import { formFields } from '#api/forms/fields.ts';
import { acknowledgementText, formTexts } from '#api/forms/texts.ts';
import { pageColors, siteInput } from '#api/sites/schemas.ts';
import { bookingKinds } from '#db/bookings/booking.ts';
import { type IdPrefix, isId } from '#runtime/ids.ts';

const id = (prefix: IdPrefix) =>
  z.string().refine((text) => isId(prefix, text), `is not an id with the prefix ${prefix}`);
const hash = z.string().regex(/^[0-9a-f]{64}$/);
const oid = z.string().regex(/^[0-9a-f]{40}$/);
// As PostgreSQL writes it in JSON.
const moment = z.iso.datetime({ offset: true });
// PostgreSQL accepts no NUL.
const text = (max: number) =>
  z
    .string()
    .max(max)
    .refine(
      (value) => !value.includes('\0') && value.isWellFormed(),
      'contains characters that are not allowed in text',
    );
const bytea = z.string().regex(/^\\x[0-9a-f]{8,512}$/);
const answers = z.array(z.tuple([text(200), z.union([text(100_000), z.array(text(1000)).max(200)])])).max(100);
const { services, calendars } = bookableInput.shape;
const calendar = calendars.element.shape;

/** Services of a stored timetable. In archives from before prices said so, a price is of the whole booking. */
const storedServices = z.preprocess(
  (value) => (Array.isArray(value) ? value.map(withWholePrice) : value),
  services,
) as unknown as typeof services;

function withWholePrice(service: unknown): unknown {
  if (!isObject(service) || !isObject(service.price)) return service;
  return { ...service, price: { per: 'booking', ...service.price } };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;

const absentAsNull = ({ button, thanks, fallback, return_path }: typeof formTexts) => ({
  button: button.default(null),
  thanks: thanks.default(null),
  fallback: fallback.default(null),
  return_path: return_path.default(null),
});

/**
 * The exported columns of each table. References to the site or an account are not among them: an import sets those.
 */
export const rowSchemas = {
  form: z.strictObject({
    id: id('form'),
    name: text(120).min(1),
    status: z.enum(['enabled', 'disabled']),
    fields: formFields,
    // Absent in archives from before these columns existed.
    ...absentAsNull(formTexts),
    acknowledgement: acknowledgementText.nullable().default(null),
    created_at: moment,
  }),
  submission: z.strictObject({
    id: id('sub'),
    form_id: id('form'),
    values: answers,
    page: text(2048).nullable(),
    spam: z.boolean().default(false),
    created_at: moment,
    expires_at: moment,
  }),
  bookable: z.strictObject({
    services: storedServices,
    fallback: formTexts.fallback.default(null),
    declared_at: moment,
    ended_at: moment.nullable(),
  }),
  calendar: z.strictObject({
    id: id('cal'),
    key: calendar.key,
    name: calendar.name,
    position: z.int().min(0).max(10_000),
    capacity: calendar.capacity,
    time_zone: calendar.time_zone,
    place: text(200).nullable().optional(),
    link: text(2000).nullable().optional(),
    hours: calendar.hours,
    exceptions: calendar.exceptions,
    created_at: moment,
    archived_at: moment.nullable(),
  }),
  booking: z.strictObject({
    id: id('book'),
    calendar_id: id('cal'),
    kind: z.enum(bookingKinds).default('booking'),
    reference: z.string().regex(/^[0-9A-HJKMNP-TV-Z]{8}$/),
    status: z.enum(['confirmed', 'cancelled', 'expired']),
    service_key: text(40),
    service_name: text(120),
    starts_at: moment,
    ends_at: moment,
    busy_from: moment,
    busy_until: moment,
    seats: z.int().min(1).max(10_000),
    visitor_name: text(200),
    visitor_hash: bytea,
    intake: answers,
    place: text(200).nullable().optional(),
    link: text(2000).nullable().optional(),
    price: z.strictObject({ amount: z.int().min(1), currency: text(3) }).nullable(),
    cancel_hash: bytea,
    created_at: moment,
    cancelled_at: moment.nullable(),
    moves: z.int().min(0).default(0),
    moved_at: moment.nullable().default(null),
  }),
  comment_thread: z.strictObject({
    id: id('thread'),
    status: z.enum(['open', 'resolved']),
    page: typedPage,
    position: positionInput.nullable(),
    picture_sha256: hash.nullable(),
    picture_type: z.enum(['image/png', 'image/jpeg', 'image/webp']).nullable(),
    picture_missing: text(200).nullable(),
    created_at: moment,
    changed_at: moment,
    resolved_at: moment.nullable(),
  }),
  comment_message: z.strictObject({
    id: id('msg'),
    thread_id: id('thread'),
    author_kind: z.enum(['owner', 'collaborator', 'agent']),
    body: text(4000).min(1),
    created_at: moment,
  }),
  asset: z.strictObject({
    id: id('asset'),
    path: text(1024),
    oid,
    bytes: z.int().min(0),
    sha256: hash,
    source: z.enum(['api', 'photo', 'upload_link']),
    created_at: moment,
  }),
} as const;
export type RowTable = keyof typeof rowSchemas;
/** Visitors' data, which an owner may exclude. */
export const visitorTables: readonly RowTable[] = ['submission', 'booking'];

const repository = z.strictObject({
  pack: hash,
  refs: z.record(z.string().regex(/^refs\/heads\/(main|preview\/[1-9][0-9]{0,3})$/), oid),
});

/** Columns of the site's row that are exported and imported unchanged. A nullable column is optional here. */
export const siteColumns = {
  id: id('site'),
  public_id: z.string().regex(/^[0-9a-hjkmnp-tv-z]{16}$/),
  name: siteInput.shape.name,
  // Titles of earlier releases may have several lines.
  title: z.string().trim().min(1).max(120),
  template: z.string().regex(/^([a-z][a-z0-9-]{0,39})?$/),
  colors: pageColors.optional(),
  created_at: moment,
};

export const siteDocument = z
  .strictObject({
    format: z.literal(1),
    version: text(40),
    exported_at: moment,
    from: z.strictObject({ base_url: text(300), hostname: text(300) }),
    site: z.strictObject({
      ...siteColumns,
      // Absent if the site is neither, and in archives from before these fields existed.
      archived_at: moment.optional(),
      blocked: z.strictObject({ at: moment, reason: text(10_000).min(1) }).optional(),
    }),
    live: z
      .strictObject({
        id: id('dep'),
        manifest: hash,
        source_commit: oid.nullable(),
        content_commit: oid.nullable(),
        site_url: text(300),
        live_at: moment,
      })
      .nullable(),
    redirects: z.array(z.strictObject({ from: text(2048), to: text(4096).optional(), status: z.int() })),
    repositories: z.strictObject({ source: repository, content: repository }),
    rows: z.strictObject(
      Object.fromEntries(Object.entries(rowSchemas).map(([name, schema]) => [name, z.array(schema)])) as {
        [Name in RowTable]: z.ZodArray<(typeof rowSchemas)[Name]>;
      },
    ),
  })
  .refine(
    ({ site, repositories }) => isMade(site, repositories.source.refs) && isMade(site, repositories.content.refs),
    {
      path: ['repositories'],
      message: 'has no main branch',
    },
  );

/** Whether a repository with these branches is complete. `main` may be absent where the site began without a template. */
export function isMade({ template }: { template: string }, refs: Record<string, string>): boolean {
  return template === '' || 'refs/heads/main' in refs;
}

export type SiteDocument = z.output<typeof siteDocument>;

/** A refusal to import or export, with a message for the operator. Nothing was changed. */
export class ExportFault extends Error {}
