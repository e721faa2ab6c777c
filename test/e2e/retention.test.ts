import { RETENTION_SETTINGS, retentionCases } from '../conformance/retention.ts';
import { startManagedApp } from '../support/managed-app.ts';

describe('retention that resources declare, embedded', () => {
  retentionCases(() => startManagedApp(RETENTION_SETTINGS));
});
