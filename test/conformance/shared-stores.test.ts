import { sharedStoreSuites } from './shared-stores.ts';
import { openMemoryTwice, openSqliteTwice } from './shared-stores-subject.ts';

sharedStoreSuites('memory', openMemoryTwice);
sharedStoreSuites('sqlite', openSqliteTwice);
