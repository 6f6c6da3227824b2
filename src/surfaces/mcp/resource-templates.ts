const template = (name: string, uriTemplate: string, title: string, description: string) => ({
  name,
  uriTemplate,
  title,
  description,
});

export const TEMPLATES = [
  template('agent', 'bmad://agents/{agent}', 'Agent by name', 'The main file of an agent'),
  template('workflow', 'bmad://workflows/{workflow}', 'Workflow by name', 'The main file of a workflow'),
  template('knowledge', 'bmad://knowledge/{knowledge}', 'Knowledge by name', 'One piece of knowledge'),
  template(
    'memories',
    'bmad://memory/{memory}',
    'Memories by type',
    'What the project remembers: shared-context, decisions, agent-learnings, failures or stories',
  ),
  template(
    'memory',
    'bmad://memory/{memory}/{memory_id}',
    'Memory by id',
    'One memory, with its earlier versions',
  ),
  template(
    'runs',
    'bmad://runs/{branch}',
    'Session branch by name',
    'The runs of workflows in a session branch',
  ),
  template(
    'run',
    'bmad://runs/{branch}/{run_id}',
    'Run by id',
    'One run of a workflow: state, steps, artefacts',
  ),
  template(
    'project-agent',
    'bmad://project/agents/{project_agent}',
    'Learnings of an agent',
    'What an agent has learned in this project',
  ),
  template('task', 'bmad://tasks/{task_id}', 'Task by id', 'One task for a sub-agent: state, brief, result'),
  template(
    'contract',
    'bmad://contracts/{contract_id}',
    'Delivery contract by id',
    'One delivery contract, with what is still missing',
  ),
  template('file', 'bmad://{+path}', 'File by path', 'Any file of the BMAD content'),
  template('skill', 'skill://{+skill}', 'File of a skill', 'Any file of an agent or workflow, as a skill'),
];
