import { describe, expect, it } from 'vitest';
import { analyse } from './analyse.ts';

const alike = (...words: string[]): void => {
  const [first, ...others] = words.map((word) => analyse(word).join(' '));
  for (const other of others) expect(other, words.join(', ')).toBe(first);
};

describe('analyse', () => {
  it('removes English endings', () => {
    alike('deployment', 'deployments', 'deployed', 'deploying', 'deploy');
    alike('policy', 'policies');
    alike('test', 'tests', 'testing', 'tested');
    alike('cache', 'caches', 'cached', 'caching');
    alike('approval', 'approvals');
  });

  it('removes French endings, with and without accents', () => {
    alike('déploiement', 'déploiements', 'déployer', 'déployé', 'déployées', 'deploiement');
    alike('facture', 'factures', 'facturer', 'facturation');
    alike('sauvegarde', 'sauvegardée', 'sauvegarder', 'sauvegardes');
    alike('requête', 'requêtes', 'requete');
    alike('journal', 'journaux');
  });

  it('leaves out the words that every sentence has', () => {
    expect(analyse('What is the reason for it?')).toEqual(analyse('reason'));
    expect(analyse("L'équipe qu'il a eue, et c'est aujourd'hui")).toEqual(analyse('équipe eue'));
    expect(analyse('')).toEqual([]);
  });

  it('takes identifiers apart', () => {
    expect(analyse('parseHTTPResponse')).toEqual(analyse('parse http response'));
    expect(analyse('user_account-id')).toEqual(analyse('user account id'));
    expect(analyse('sha256 utf8 i18n')).toEqual(['sha256', 'utf8', 'i18n']);
  });

  it('folds accents and ligatures', () => {
    alike('cœur', 'coeur');
    alike('ÉTÉS', 'étés');
    alike('e\u0301tape', '\u00e9tape');
  });

  it('keeps words of other scripts as they are', () => {
    expect(analyse('база данных')).toHaveLength(2);
  });

  it('gives the same terms twice, also when many words have passed', () => {
    const before = analyse('décisions importantes');
    analyse(Array.from({ length: 30_000 }, (_, i) => `word${'abcdefghij'[i % 10]}${i.toString(26)}`).join(' '));
    expect(analyse('décisions importantes')).toEqual(before);
  });
});
