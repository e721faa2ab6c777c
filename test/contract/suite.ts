import type { Posture } from './case.ts';
import { createRunner, loadCases, logIn, type Runner } from './runner.ts';

/** The account that the cases of the required posture sign in with; the server is started with its password. */
const CONTRACT_USER = 'default_user@example.com';
export const CONTRACT_PASSWORD = 'contract-test-only';

interface ContractSubject {
  readonly baseUrl: string;
  stop(): Promise<unknown>;
}

/** Every case of the contract, against a server of its own. */
export function contractSuite(name: string, posture: Posture, start: () => Promise<ContractSubject>): void {
  describe(`contract, ${name}, ${posture} posture`, () => {
    let subject: ContractSubject;
    let runner: Runner;
    before(async () => {
      subject = await start();
      const { baseUrl } = subject;
      const headers = posture === 'open' ? {} : await logIn(baseUrl, CONTRACT_USER, CONTRACT_PASSWORD);
      runner = createRunner({ baseUrl, headers });
    });
    after(() => subject?.stop());

    for (const { area, cases } of loadCases(posture)) {
      for (const contractCase of cases) {
        it(`${area}: ${contractCase.name}`, async () => {
          const problems = await runner.run(contractCase);
          if (problems.length > 0) throw new Error(problems.join('\n'));
        });
      }
    }
  });
}
