// A program of closures, iterators, generics, traits and panics, for the oracle tests.  Without
// --cfg whole it has no more than the half that compiles fast.
#![allow(dead_code, unused_imports)]
use std::collections::{BTreeMap, HashMap, HashSet};
use std::fmt::{Debug, Display};
use std::ops::{Add, Mul};
use std::rc::Rc;

trait Shape {
    fn area(&self) -> f64;
    fn name(&self) -> String {
        format!("a shape of {:.2}", self.area())
    }
}
struct Circle(f64);
struct Polygon<const N: usize>([(f64, f64); N]);
impl Shape for Circle {
    fn area(&self) -> f64 {
        self.0 * self.0 * std::f64::consts::PI
    }
}
impl<const N: usize> Shape for Polygon<N> {
    fn area(&self) -> f64 {
        let next = self.0.iter().cycle().skip(1);
        self.0.iter().zip(next).map(|(a, b)| a.0 * b.1 - a.1 * b.0).sum::<f64>().abs() / 2.0
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Token {
    Number(i64),
    Word(String),
    Group(Vec<Token>),
}

mod parser {
    use super::Token;
    pub fn parse(text: &str, depth: usize) -> Result<(Vec<Token>, usize), String> {
        let mut tokens = Vec::new();
        let bytes = text.as_bytes();
        let mut at = 0;
        while at < bytes.len() {
            match bytes[at] {
                b'(' if depth > 20 => return Err(format!("too deep at {at}")),
                b'(' => {
                    let (inner, used) = parse(&text[at + 1..], depth + 1)?;
                    tokens.push(Token::Group(inner));
                    at += used + 2;
                }
                b')' => return Ok((tokens, at)),
                c if c.is_ascii_whitespace() => at += 1,
                _ => {
                    let end = text[at..]
                        .find(|c: char| c.is_whitespace() || c == '(' || c == ')')
                        .map_or(bytes.len(), |n| at + n);
                    let word = &text[at..end];
                    let number = word.parse().map(Token::Number);
                    tokens.push(number.unwrap_or_else(|_| Token::Word(word.to_owned())));
                    at = end;
                }
            }
        }
        Ok((tokens, at))
    }
}

#[inline(never)]
fn fold<T, I>(items: I, start: T) -> T
where
    T: Copy + Add<Output = T> + Mul<Output = T> + Debug,
    I: Iterator<Item = T>,
{
    items.fold(start, |a, b| a * b + a)
}

fn largest<K: Ord + Clone + Display, V: PartialOrd>(map: &HashMap<K, V>) -> Option<K> {
    map.iter()
        .reduce(|a, b| if a.1 < b.1 { b } else { a })
        .map(|(k, _)| k.clone())
}

fn compose<'a>(steps: Vec<Box<dyn Fn(i64) -> i64 + 'a>>) -> impl Fn(i64) -> i64 + 'a {
    move |x| steps.iter().fold(x, |x, step| step(x))
}

fn words(text: &str) -> BTreeMap<String, Vec<usize>> {
    let mut map: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for (i, w) in text.split_whitespace().enumerate() {
        map.entry(w.to_lowercase()).or_default().push(i);
    }
    map
}

struct Noisy(Rc<Vec<Token>>);
impl Drop for Noisy {
    fn drop(&mut self) {
        if self.0.len() > 1000 {
            panic!("{} tokens", self.0.len());
        }
    }
}

#[cfg(not(whole))]
fn collections(_text: &str) {}

#[cfg(whole)]
fn collections(text: &str) {
    let mut lengths: HashMap<usize, Vec<String>> = HashMap::new();
    for (k, v) in words(text) {
        let mut v = v.clone();
        v.sort_by(|a, b| b.cmp(a));
        lengths.entry(v.len()).or_default().push(format!("{k}:{v:?}"));
    }
    println!("{lengths:?} {:?}", largest(&lengths));

    let shapes: Vec<Box<dyn Shape>> = vec![
        Box::new(Circle(text.len() as f64)),
        Box::new(Polygon([(0.0, 0.0), (3.0, 0.0), (0.0, text.len() as f64)])),
        Box::new(Polygon([(0.0, 0.0), (3.0, 0.0), (3.0, 3.0), (0.0, 3.0)])),
    ];
    let mut names: Vec<_> = shapes.iter().map(|s| (s.area(), s.name())).collect();
    names.sort_by(|a, b| b.0.partial_cmp(&a.0).unwrap());
    println!("{names:?}");

    match parser::parse(text, 0) {
        Ok((tokens, _)) => {
            let unique: HashSet<Token> = tokens.iter().cloned().collect();
            let mut sorted: Vec<_> = unique.into_iter().collect();
            sorted.sort();
            let noisy = Noisy(Rc::new(sorted));
            println!("{:?}", noisy.0);
        }
        Err(why) => eprintln!("{why}"),
    }
}

fn main() {
    let text: String = std::env::args().collect::<Vec<_>>().join(" ");
    collections(&text);
    match parser::parse(&text, 0) {
        Ok((tokens, _)) => drop(Noisy(Rc::new(tokens))),
        Err(why) => eprintln!("{why}"),
    }
    let by = text.len() as i64;
    let f = compose(vec![Box::new(|x| x + by), Box::new(move |x| x * by), Box::new(i64::abs)]);
    println!("{} {}", f(3), fold([1.5, 2.5].into_iter(), by as f64) + fold(1..5, by) as f64);
    let caught = std::panic::catch_unwind(|| text.chars().nth(100000).expect("a long text"));
    println!("{}", caught.is_err());
}
