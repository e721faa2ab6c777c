import { RETENTION_SETTINGS, retentionCases } from '../behaviour/retention.ts';
import { startManagedApp } from '../support/managed-app.ts';

describe('retention that resources declare, embedded', () => {
  retentionCases(() => startManagedApp(RETENTION_SETTINGS));
});
