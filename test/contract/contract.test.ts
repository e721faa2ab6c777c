import { type StartedApp, startApp } from '../support/start-app.ts';
import type { Posture } from './case.ts';
import { createRunner, loadCases, logIn, type Runner } from './runner.ts';

const USER = 'default_user@example.com';
const PASSWORD = 'contract-test-only';

function suite(posture: Posture, start: () => Promise<{ app: StartedApp; headers: Readonly<Record<string, string>> }>) {
  describe(`contract, ${posture} posture`, () => {
    let app: StartedApp;
    let runner: Runner;
    before(async () => {
      const started = await start();
      app = started.app;
      runner = createRunner({ baseUrl: app.baseUrl, headers: started.headers });
    });
    after(() => app.stop());

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

suite('required', async () => {
  const app = await startApp({ ENABLE_BACKEND_ACCESS_CONTROL: 'true', DEFAULT_USER_PASSWORD: PASSWORD });
  return { app, headers: await logIn(app.baseUrl, USER, PASSWORD) };
});

suite('open', async () => ({ app: await startApp(), headers: {} }));
