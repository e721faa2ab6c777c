import { startApp } from '../support/start-app.ts';
import { CONTRACT_PASSWORD, contractSuite } from './suite.ts';

contractSuite('embedded', 'required', () =>
  startApp({ ENABLE_BACKEND_ACCESS_CONTROL: 'true', DEFAULT_USER_PASSWORD: CONTRACT_PASSWORD }),
);
contractSuite('embedded', 'open', () => startApp());
