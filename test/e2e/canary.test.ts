import { canaryCases } from '../behaviour/canary.ts';
import { startManagedApp } from '../support/managed-app.ts';

describe('canaries, embedded', () => {
  canaryCases(({ wrap }) => startManagedApp({}, wrap));
});
