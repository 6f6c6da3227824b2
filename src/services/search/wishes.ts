/**
 * What people wish for when they mean one of BMAD's workflows or agents and know none of its words: names, in whatever version,
 * then wishes in English and French. Only their meaning is compared, so that one stands for all that are like it; words are
 * the vocabulary's work.
 */
const WISHES = `
retrospective: learn from work that has ended; what went badly and what went well; look back together and do better next time; lessons of the last weeks | apprendre de ce qui est fini; ce qui a bien ou mal marché; regarder en arrière ensemble et faire mieux; bilan des dernières semaines
correct-course: the plan no longer fits what happened; something big has changed while we are building; the customer wants something else now; a supplier disappeared and we must adapt | le plan ne tient plus; un grand changement pendant la réalisation; le client veut autre chose maintenant; une mauvaise nouvelle oblige à s'adapter
sprint-planning sprint-status: put the coming work in order; which tasks are open and who does what; how much is finished; how far have we got; may we start building | mettre en ordre le travail à venir; quelles tâches sont ouvertes; combien est fini; peut-on se mettre à construire; où en est le travail; où en est-on
create-epics-and-stories brownfield-create-epic: cut a large need into small tasks for programmers; break the product down into stories; list of tickets from a requirements document; what has to be built, piece by piece | découper un grand besoin en petites tâches pour les programmeurs; tirer des tickets d'un document; ce qu'il faut construire, morceau par morceau
prd create-prd: write down everything the application must be able to do; check whether nothing is missing in what was asked for; bring the list of demands up to date | écrire tout ce que l'application doit savoir faire; contrôler qu'il ne manque rien aux demandes; actualiser la liste des besoins
product-brief create-product-brief: a short page that says what we make and for whom; pitch of the product for managers and investors | une courte page qui dit ce que nous faisons et pour qui; présenter le produit aux dirigeants et aux investisseurs
prfaq: act as if the product were already on sale and announce it; think from the point of view of the buyer; awkward questions from journalists and buyers | faire comme si le produit était déjà en vente et l'annoncer; penser du point de vue de l'acheteur; questions gênantes des journalistes
spec create-tech-spec: make one short clear text of scattered notes, mails and recordings; condense a long input for those who build it | faire un texte court et clair de notes éparses, de courriels et d'enregistrements; condenser pour ceux qui réalisent
architecture create-architecture: how the parts of the system fit together; one big application or many small services; choose the technologies; record technical choices for all teams; split the application in two | comment s'assemblent les parties du système; une grosse application ou beaucoup de petits services; choisir les technologies; noter les choix techniques; couper l'application en deux
ux create-ux-design create-excalidraw-wireframe generate-ai-frontend-prompt: draw a mockup of a page; wireframes; what the pages look like and how it feels to use them; colours, fonts, layout of the screens; path of a visitor through the pages | dessiner la maquette d'un écran; maquettes; à quoi ressemblent les pages et comment on s'en sert; couleurs, polices, disposition des écrans; chemin du visiteur à travers les pages
ux-designer ux-expert: speak to the one who designs pages and screens; draw a mockup; design of the user interface | parler à celle qui conçoit les pages et les écrans; dessiner des maquettes
build dev-story quick-dev: program this; add a field, a button or a filter to a page; something does not work, repair it; fix a bug; do the ticket; change the code | programme ceci; ajouter un champ, un bouton ou un filtre à une page; quelque chose ne marche pas, dépanne; corriger un bogue; fais ce ticket; changer le code
build-auto dev-auto: keep programming alone at night without us; work through all tickets without asking | continuer à programmer seul sans personne; traiter tous les tickets sans demander
code-review: is my program good enough to be merged; several people look at the changes in the code | mon programme est-il bon à fusionner; plusieurs personnes regardent les changements du code
walkthrough checkpoint-preview: explain to me what was changed and where to look; go through the modification with me one step at a time; I have to approve it and want to understand it | explique ce qui a été modifié et où regarder; parcourir la modification avec moi étape par étape; je dois l'approuver et veux comprendre
qa-generate-e2e-tests qa-automate: have a robot click through the finished pages and check them; nothing checks our interface automatically; cover what exists with checks | qu'un robot clique dans les pages finies et les contrôle; rien ne vérifie notre interface automatiquement; couvrir ce qui existe par des contrôles
review editorial-review review-adversarial-general critical-review: find everything that is wrong with my document or plan and spare nothing; forgotten cases and gaps; spelling, style and order of a text; make a text shorter and clearer; what was forgotten | trouver tout ce qui ne va pas dans mon document ou mon plan, sans pitié; cas oubliés et lacunes; orthographe, style et ordre d'un texte; rendre un texte plus court et plus clair; ce qui a été oublié
advanced-elicitation: not good enough, dig deeper; doubt your own answer; suppose it went wrong and say why | pas assez bon, va plus loin; doute de ta réponse; suppose que c'est un échec et dis pourquoi
brainstorming facilitate-brainstorming-session brainstorm-game: many unusual ideas, no matter how crazy; I do not know what to invent | beaucoup d'idées inhabituelles, même folles; je ne sais pas quoi inventer
forge-idea: is my idea worth anything, ask me until we know; a vague thought that should become solid | mon idée vaut-elle quelque chose, interroge-moi; une pensée vague à rendre solide
deep-recon research market-research domain-research technical-research: who else sells this and for how much; how many people would buy it; what does the law say; which of these products is best, with proof; gather facts from outside | qui d'autre vend cela et à quel prix; combien de gens l'achèteraient; que dit la loi; lequel de ces produits est le meilleur, preuves à l'appui; rassembler des faits à l'extérieur
party-mode: several experts talk about it together; let them all disagree around one table; conversation between the roles | plusieurs experts en parlent ensemble; que chacun donne son avis autour d'une table; conversation entre les rôles
customize: an assistant should speak or behave in another way here; other rules for one of the steps in our company | un assistant doit parler ou agir autrement chez nous; d'autres règles pour une étape dans notre entreprise
help workflow-status workflow-init: I do not know what to do now; where to begin; which step is first; how does all this work; I am new here | je ne sais pas quoi faire; par où débuter; quelle est la première étape; comment marche tout cela; je suis nouveau ici
project-context document-project generate-project-context: tell assistants how our repository works and what to beware of; note down what they keep doing wrong; describe code that exists | dire aux assistants comment marche notre dépôt et à quoi prendre garde; noter ce qu'ils font toujours de travers; décrire un code existant
analyst: speak to the one who studies markets and needs | parler à celle qui étudie les marchés et les besoins
architect: speak to the one who designs systems | parler à celui qui conçoit les systèmes
dev: speak to the programmer; repair a bug | parler au programmeur; réparer un bogue ou une anomalie
apply-qa-fixes: repair what the tests have found; fix a bug | corriger un bogue ou une anomalie
pm: speak to the one who decides what the product does | parler à celui qui décide de ce que fait le produit; cahier des charges
`;

const wishes = new Map<string, readonly string[]>(
  WISHES.trim()
    .split('\n')
    .flatMap((line) => {
      const [names = '', said = ''] = line.split(': ', 2);
      const all = said.split(/[;|]/).map((wish) => wish.trim());
      return names.split(' ').map((name): [string, readonly string[]] => [name, all]);
    }),
);

/** What one wishes for who means the thing of this name, without `bmad-`; nothing for names that BMAD does not have. */
export function wishesFor(name: string): readonly string[] {
  return wishes.get(name) ?? [];
}
