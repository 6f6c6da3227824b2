/** What is told beside the text of something that is started: loaded when something is, not with the lists. */
export { installMaterial } from './install-material.ts';
export { skillMaterial } from './skill-material.ts';
