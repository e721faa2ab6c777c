import { accessRaces } from './access-races.ts';
import { agentsConformance } from './agents.ts';
import { auditLogConformance } from './audit-log.ts';
import { budgetConformance } from './budgets.ts';
import { deletedUsersConformance } from './deleted-users.ts';
import { hygieneConformance } from './hygiene.ts';
import { improveClaimsConformance } from './improve-claims.ts';
import { learnedConformance } from './learned.ts';
import { loginFailuresConformance } from './login-failures.ts';
import { sessionsConformance } from './sessions.ts';
import type { SharedStoresSubject } from './shared-stores-subject.ts';
import { skillsConformance } from './skills.ts';
import { structuresConformance } from './structures.ts';

/** Suites of what two processes do with the same documents: `open` gives both of them a store. */
export function sharedStoreSuites(name: string, open: () => Promise<SharedStoresSubject>): void {
  accessRaces(name, open);
  agentsConformance(name, open);
  auditLogConformance(name, open);
  budgetConformance(name, open);
  deletedUsersConformance(name, open);
  hygieneConformance(name, open);
  improveClaimsConformance(name, open);
  learnedConformance(name, open);
  loginFailuresConformance(name, open);
  sessionsConformance(name, open);
  skillsConformance(name, open);
  structuresConformance(name, open);
}
