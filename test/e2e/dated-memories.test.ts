import { startApp } from '../support/start-app.ts';
import { checkDatedMemories } from './dated-memories-steps.ts';

describe('dated memories', () => {
  it('are found by their time, and the graph holds it', async () => {
    const app = await startApp();
    try {
      await checkDatedMemories(app.baseUrl);
    } finally {
      await app.stop();
    }
  });
});
