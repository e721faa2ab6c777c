import { openMemoryTwice, openSqliteTwice } from './audit-log-subject.ts';
import { improveClaimsConformance } from './improve-claims.ts';

improveClaimsConformance('memory', openMemoryTwice);
improveClaimsConformance('sqlite', openSqliteTwice);
