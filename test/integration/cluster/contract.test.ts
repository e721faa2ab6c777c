import { CONTRACT_PASSWORD, contractSuite } from '../../contract/suite.ts';
import { withBackends } from '../backend.ts';
import { startCluster } from '../cluster-process.ts';

withBackends(['mongodb', 'nats', 'elasticsearch', 'neo4j'], () => {
  contractSuite('six processes', 'required', () =>
    startCluster({ ENABLE_BACKEND_ACCESS_CONTROL: 'true', DEFAULT_USER_PASSWORD: CONTRACT_PASSWORD }),
  );
});
