export * from './access-requests.ts';
export * from './bookings.ts';
export * from './invitations.ts';
export * from './mail.ts';
export * from './maintaining.ts';
export * from './previews.ts';
export * from './publishing.ts';
export * from './reconciling.ts';
