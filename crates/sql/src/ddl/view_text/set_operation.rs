//! Prints combined queries: UNION, INTERSECT and EXCEPT.

use crate::ast::SetOperator;

/// A printed query.
pub(super) struct Term {
    form: Form,
    pub columns: Vec<String>,
}

enum Form {
    /// One query block without clauses behind it.
    Simple(String),
    /// A query with WITH, or with ORDER BY or LIMIT, which needs parentheses among others.
    Tailed(String),
    Combined {
        operator: SetOperator,
        all: bool,
        arms: Vec<Form>,
    },
}

impl Form {
    fn text(&self) -> String {
        match self {
            Form::Simple(text) | Form::Tailed(text) => text.clone(),
            Form::Combined { operator, all, arms } => {
                let all = if *all { " all" } else { "" };
                let between = format!(" {}{all} ", word(*operator));
                arms.iter().map(Form::operand).collect::<Vec<_>>().join(&between)
            }
        }
    }

    fn operand(&self) -> String {
        match self {
            Form::Simple(text) => text.clone(),
            Form::Tailed(_) | Form::Combined { .. } => format!("({})", self.text()),
        }
    }

    /// Returns the queries that this one adds to a chain of the operator. They are several if the
    /// operator is its own, and if it makes no difference that equal rows go at the end only.
    fn arms(self, of: SetOperator, all_of: bool) -> Vec<Form> {
        match self {
            Form::Combined { operator, all, mut arms } if operator == of && (all == all_of || !all_of) => {
                let rest = arms.split_off(1);
                let mut first: Vec<Form> = arms.into_iter().flat_map(|arm| arm.arms(of, all_of)).collect();
                for arm in rest {
                    match of {
                        SetOperator::Except => first.push(arm),
                        SetOperator::Union | SetOperator::Intersect => first.extend(arm.arms(of, all_of)),
                    }
                }
                first
            }
            form => vec![form],
        }
    }
}

impl Term {
    pub fn simple(text: String, columns: Vec<String>) -> Term {
        Term { form: Form::Simple(text), columns }
    }

    pub fn tailed(text: String, columns: Vec<String>) -> Term {
        Term { form: Form::Tailed(text), columns }
    }

    pub fn text(&self) -> String {
        self.form.text()
    }

    /// Returns the text as it stands before ORDER BY and LIMIT.
    pub fn text_with_tail(&self) -> String {
        match &self.form {
            Form::Tailed(text) => format!("({text})"),
            form => form.text(),
        }
    }

    /// Returns this query combined with another. As MySQL does, parentheses that make no difference
    /// are taken away.
    pub fn combined(self, operator: SetOperator, all: bool, right: Term) -> Term {
        let mut arms = self.form.arms(operator, all);
        match operator {
            SetOperator::Except => arms.push(right.form),
            SetOperator::Union | SetOperator::Intersect => arms.append(&mut right.form.arms(operator, all)),
        }
        Term { form: Form::Combined { operator, all, arms }, columns: self.columns }
    }
}

fn word(operator: SetOperator) -> &'static str {
    match operator {
        SetOperator::Union => "union",
        SetOperator::Intersect => "intersect",
        SetOperator::Except => "except",
    }
}
