import { Tabs } from '@mantine/core';
import { useNavigate, useSearch } from '@tanstack/react-router';
import { DatasetPickerPage } from '../dataset-page.tsx';
import { Proposals } from './proposals.tsx';
import { Skills } from './skills.tsx';

export function SkillsPage() {
  const { dataset } = useSearch({ from: '/skills' });
  const navigate = useNavigate({ from: '/skills' });
  return (
    <DatasetPickerPage
      title="Skills"
      about="A skill says how something is done. Agents find skills in a dataset by what they are for, and proposals better them by what went wrong."
      dataset={dataset}
      onChange={(chosen) => void navigate({ search: { dataset: chosen } })}
    >
      {(id) => (
        <Tabs defaultValue="skills" keepMounted={false}>
          <Tabs.List>
            <Tabs.Tab value="skills">Skills</Tabs.Tab>
            <Tabs.Tab value="proposals">Proposals</Tabs.Tab>
          </Tabs.List>
          <Tabs.Panel value="skills" pt="sm">
            <Skills dataset={id} />
          </Tabs.Panel>
          <Tabs.Panel value="proposals" pt="sm">
            <Proposals dataset={id} />
          </Tabs.Panel>
        </Tabs>
      )}
    </DatasetPickerPage>
  );
}
