/** The business key of each workflow: one id, one type. Ids are plain text everywhere, so they carry no personal data. */
export const workflowIds = {
  publishSite: (deploymentId: string) => `publish:${deploymentId}`,
  inviteCollaborator: (invitationId: string) => `invitation:${invitationId}`,
  holdBooking: (bookingId: string) => `booking:${bookingId}`,
  notify: (mailId: string) => `mail:${mailId}`,
  grantAccess: (requestId: string) => `access:${requestId}`,
  schedule: (name: string) => `schedule:${name}`,
} as const;

/** The two task queues: short work on rows and files, and builds on machines that have a sandbox. */
export const queues = { platform: 'platform', builds: 'builds' } as const;
